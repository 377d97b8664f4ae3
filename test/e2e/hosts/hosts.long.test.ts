import { describe, it } from 'vitest';
import { endsCleanly } from './host.js';
import { built, hosts, timeoutMs, useHosts } from './hosts.js';
import { probe } from './probe.js';

const underTest = useHosts('create table note (id text primary key, owner_id text not null, body text not null)');

describe('the example for', () => {
  it.each(hosts)(
    '%s passes the probe, and exits after SIGTERM',
    async (name) => {
      const serving = await underTest.serve(await built(name));
      await probe(serving.url);
      await endsCleanly(serving);
    },
    timeoutMs,
  );
});
