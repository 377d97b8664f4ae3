import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../database.js';
import { hosts } from './hosts.js';
import { probe } from './probe.js';
import { build, endsCleanly, install, type Serving, serve } from './serving.js';

let database: TestDatabase;
let serving: Serving | undefined;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query('create table note (id text primary key, owner_id text not null, body text not null)');
  await install();
}, 300_000);

afterEach(async () => {
  serving?.child.kill('SIGKILL');
  await serving?.ended;
});

afterAll(() => database.drop());

describe('the example for', () => {
  it.each(Object.entries(hosts))('%s', async (name, host) => {
    await build(name, host);
    serving = await serve(name, host, database.url);
    await probe(serving.url);
    await endsCleanly(serving);
  });
});
