import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../database.js';
import { endsCleanly, examples, type Host, type Serving, serve } from './host.js';
import { probe } from './probe.js';

const hosts: Readonly<Record<string, Host>> = {
  node: { args: ['--import', 'tsx', 'server.ts'], cwd: `${examples}node` },
};

let database: TestDatabase;
let serving: Serving | undefined;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query('create table note (id text primary key, owner_id text not null, body text not null)');
});

afterEach(async () => {
  serving?.child.kill('SIGKILL');
  await serving?.ended;
});

afterAll(() => database.drop());

describe('the example for', () => {
  it.each(Object.entries(hosts))('%s', async (_, host) => {
    serving = await serve(host, database.url);
    await probe(serving.url);
    await endsCleanly(serving);
  });
});
