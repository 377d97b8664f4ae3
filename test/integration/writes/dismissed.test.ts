/** Refusals that a client dismisses. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { lastMutationIDs, mutation, pushRequest } from './push-requests.js';

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
beforeEach(async () => {
  await database.pool.query(`
    truncate tidemark.refusal, tidemark.client, tidemark.client_group cascade;
    insert into tidemark.refusal (user_id, profile_id, client_id, mutation_id, code)
    select u, p, c, m, 'conflict' from unnest('{u,v}'::text[]) u, unnest('{p,q}'::text[]) p, unnest('{c,d}'::text[]) c,
      generate_series(1, 2) m`);
});

const applied: string[] = [];
const note = defineMutator(() => void applied.push('note'));

async function push(...mutations: Parameters<typeof pushRequest>[1]) {
  const { log } = memoryLog();
  const route = createPush({ db, tx: (client) => client, mutators: defineMutators({ note }) });
  return route(pushRequest('g', mutations), { context: { userID: 'u' }, requestID: 'r', log });
}

async function refusals(): Promise<string[]> {
  const key = "concat_ws('/', user_id, profile_id, client_id, mutation_id)";
  const { rows } = await database.pool.query<{ key: string }>(`select ${key} as key from tidemark.refusal order by 1`);
  return rows.map((row) => row.key);
}

it('dismissing a refusal deletes it once, only for the caller’s user and profile', async () => {
  const before = await refusals();
  expect(before).toHaveLength(16);
  const mutations = [
    mutation(1, 'note'),
    mutation(2, 'tidemark/dismissed', { clientID: 'd', mutationID: 2 }),
    mutation(3, 'note'),
  ];
  expect(await push(...mutations)).toBeNull();
  expect(await refusals()).toEqual(before.filter((key) => key !== 'u/p/d/2'));
  expect(applied).toEqual(['note', 'note']);
  await database.pool.query("insert into tidemark.refusal values ('u', 'p', 'd', 2, null, 'conflict', null)");
  expect(await push(...mutations)).toBeNull();
  expect(await refusals()).toEqual(before);
  expect(await lastMutationIDs(database.pool)).toEqual({ c: 3 });
});

it.each<[what: string, args: unknown]>([
  ['nothing', null],
  ['no mutation', { clientID: 'c' }],
  ['no client', { mutationID: 1 }],
  ['another type', { clientID: 1, mutationID: '1' }],
  ['a text that Postgres cannot store', { clientID: 'c\0', mutationID: 1 }],
  ['a number that is no integer', { clientID: 'c', mutationID: 1.5 }],
  ['a mutation that was not refused', { clientID: 'c', mutationID: 3 }],
  ['a list', [1, 2]],
])('dismissing with args that name %s deletes nothing, and does not stop the push', async (_, args) => {
  applied.length = 0;
  expect(await push(mutation(1, 'tidemark/dismissed', args), mutation(2, 'note'))).toBeNull();
  expect(await refusals()).toHaveLength(16);
  expect(applied).toEqual(['note']);
});
