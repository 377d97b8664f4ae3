import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { endsCleanly, type Serving, serve } from './host.js';
import { built, hosts, install, uninstall } from './hosts.js';
import { probe } from './probe.js';

/** A build takes long on a busy machine. */
const timeoutMs = 300_000;

let database: TestDatabase;
let serving: Serving | undefined;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query('create table note (id text primary key, owner_id text not null, body text not null)');
  await install();
}, timeoutMs);

afterEach(async () => {
  serving?.child.kill('SIGKILL');
  await serving?.ended;
});

afterAll(async () => {
  uninstall();
  await database.drop();
});

describe('the example for', () => {
  it.each(hosts)(
    '%s passes the probe, and exits after SIGTERM',
    async (name) => {
      serving = await serve(await built(name), database.url);
      await probe(serving.url);
      await endsCleanly(serving);
    },
    timeoutMs,
  );
});
