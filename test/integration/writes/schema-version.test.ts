/** Mutators receive the schema version and the browser profile of the client that sent a mutation. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { mutation, pushRequest } from './push-requests.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openPool(database.url);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

it.each([
  ['by itself', 1],
  ['in a transaction with others', 3],
])('a mutation applied %s gets the schema version and the profile of its client', async (_, count) => {
  const received: unknown[] = [];
  const note = defineMutator(({ schemaVersion, profileID }) => {
    received.push([schemaVersion, profileID]);
  });
  const push = createPush({ db, tx: (client) => client, mutators: defineMutators({ note }) });
  const client = `client of ${count}`;
  const mutations = Array.from({ length: count }, (_, i) => mutation(i + 1, 'note', null, client));
  const request = { ...pushRequest(`group of ${count}`, mutations), schemaVersion: '7' };
  const { log } = memoryLog();
  expect(await push(request, { context: { userID: 'u' }, requestID: 'r', log })).toBeNull();
  expect(received).toEqual(Array(count).fill(['7', 'p']));
});
