import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { isTransient } from '../../../packages/tidemark/src/db/sqlstate.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import type { RefusedMutation } from '../../../packages/tidemark/src/writes/refused-mutations.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { lastMutationIDs, mutation, pushRequest } from './push-requests.js';

let database: TestDatabase;
/** Two servers on one database. */
let servers: Database[];

beforeAll(async () => {
  database = await createTestDatabase();
  servers = [openPool(database.url), openPool(database.url)];
  await database.pool.query('create table entry (seq serial, client text, n int)');
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await database.drop();
});

const mutators = defineMutators({
  append: defineMutator(async ({ tx, args }) => {
    const { client, n } = args as { client: string; n: number };
    await tx.query('insert into entry (client, n) values ($1, $2)', [client, n]);
    if (n % 10 === 0) throw new Error('every tenth fails permanently');
  }),
});

it('each mutation is applied once while backends are killed and every push arrives twice', async () => {
  const { log } = memoryLog();
  const hookCalls: string[] = [];
  const onRefused = ({ clientID, mutationID }: RefusedMutation) => hookCalls.push(`${clientID}${mutationID}`);
  const [one, two] = servers.map((db) => createPush({ db, tx: (client) => client, mutators, onRefused }));
  const ids = Array.from({ length: 100 }, (_, i) => i + 1);
  let pushing = true;
  let kills = 0;
  // Each kill waits for a new commit, so the pushes make progress however slow the machine is.
  const applied = async () => Object.values(await lastMutationIDs(database.pool)).reduce((sum, id) => sum + id, 0);
  const killer = (async () => {
    for (let before = -1; pushing; ) {
      await sleep(5);
      const now = await applied();
      if (now === before) continue;
      before = now;
      const { rowCount } = await database.pool.query(`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'tidemark%' and datname = current_database() order by random() limit 1`);
      kills += rowCount ?? 0;
    }
  })();
  const deliver = async (push: typeof one, client: string) => {
    const request = pushRequest(
      `g-${client}`,
      ids.map((n) => mutation(n, 'append', { client, n }, client)),
    );
    for (;;) {
      try {
        return await push?.(request, { context: { userID: 'u' }, requestID: 'r', log });
      } catch (error) {
        if (!isTransient(error)) throw error;
        await sleep(5);
      }
    }
  };
  const clients = ['a', 'b', 'c', 'd'];
  const answers = await Promise.all(clients.flatMap((client) => [deliver(one, client), deliver(two, client)]));
  pushing = false;
  await killer;
  expect(answers).toEqual(Array(8).fill(null));
  expect(kills).toBeGreaterThan(10);
  expect(await lastMutationIDs(database.pool)).toEqual({ a: 100, b: 100, c: 100, d: 100 });
  const refused = clients.flatMap((client) => ids.filter((n) => n % 10 === 0).map((n) => `${client}${n}`));
  const { rows: recorded } = await database.pool.query(
    'select client_id || mutation_id as id from tidemark.refusal order by client_id, mutation_id',
  );
  expect(recorded.map(({ id }) => id)).toEqual(refused);
  // The hook is not called if the connection is lost during the commit.
  expect(refused).toEqual(expect.arrayContaining(hookCalls));
  expect(new Set(hookCalls).size).toBe(hookCalls.length);
  for (const client of clients) {
    const { rows } = await database.pool.query('select n from entry where client = $1 order by seq', [client]);
    expect(rows.map((row) => row.n)).toEqual(ids.filter((n) => n % 10 !== 0));
  }
});
