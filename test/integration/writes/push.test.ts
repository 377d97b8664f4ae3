import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createPush } from '../../../packages/tidemark/src/writes/push.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog } from '../../support/log.js';
import { announced } from '../pokes/notifying.js';
import { lastMutationIDs, mutation, pushRequest } from './push-requests.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openPool(database.url);
  await database.pool.query('create table entry (seq serial, client text, n int)');
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

beforeEach(() => database.pool.query('truncate entry, tidemark.client, tidemark.client_group'));

const mutators = defineMutators({
  append: defineMutator(async ({ tx, args }) => {
    const { client, n } = args as { client: string; n: number };
    await tx.query('insert into entry (client, n) values ($1, $2)', [client, n]);
  }),
});

function setUp(schemaVersions?: string[], pushDB = db) {
  const { log, lines } = memoryLog();
  const push = createPush({
    db: pushDB,
    tx: (client) => client,
    mutators,
    ...(schemaVersions && { schemaVersions }),
  });
  const as = (userID: string) => ({ context: { userID }, requestID: 'r1', log });
  return { push, as, lines };
}

const append = (client: string, id: number) => mutation(id, 'append', { client, n: id }, client);

async function entries(): Promise<{ client: string; n: number }[]> {
  return (await database.pool.query('select client, n from entry order by seq')).rows;
}

describe('a push', () => {
  it('of 200 mutations that arrives 8 times concurrently applies each once, in order', async () => {
    const { push, as } = setUp();
    const ids = Array.from({ length: 200 }, (_, i) => i + 1);
    const request = pushRequest(
      'g',
      ids.map((id) => append('c', id)),
    );
    const started = performance.now();
    const answers = await Promise.all(Array.from({ length: 8 }, () => push(request, as('u'))));
    console.log(`200 mutations 8 times at once: ${Math.round(performance.now() - started)} ms`);
    expect(answers).toEqual(Array(8).fill(null));
    expect((await entries()).map((entry) => entry.n)).toEqual(ids);
    expect(await lastMutationIDs(database.pool)).toEqual({ c: 200 });
  });

  it('that repeats applied mutations applies only the new ones', async () => {
    const { push, as } = setUp();
    await push(pushRequest('g', [append('a', 1), append('b', 1), append('a', 2)]), as('u'));
    await push(
      pushRequest('g', [append('a', 1), append('a', 2), append('a', 2), append('a', 3), append('b', 1)]),
      as('u'),
    );
    expect(await entries()).toEqual([
      { client: 'a', n: 1 },
      { client: 'b', n: 1 },
      { client: 'a', n: 2 },
      { client: 'a', n: 3 },
    ]);
  });

  it('of each of 64 clients to one row succeeds, and no update is lost', async () => {
    await database.pool.query('create table counter (n int); insert into counter values (0)');
    const { log } = memoryLog();
    const push = createPush({
      db,
      tx: (client) => client,
      mutators: defineMutators({ add: defineMutator(({ tx }) => tx.query('update counter set n = n + 1')) }),
    });
    const started = performance.now();
    await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        push(
          pushRequest(
            `g${i}`,
            Array.from({ length: 10 }, (_, n) => mutation(n + 1, 'add', null, `c${i}`)),
          ),
          { context: { userID: 'u' }, requestID: 'r', log },
        ),
      ),
    );
    console.log(`64 clients, 640 mutations of one row: ${Math.round(performance.now() - started)} ms`);
    expect((await database.pool.query('select n from counter')).rows).toEqual([{ n: 640 }]);
  });

  it('of 3,000 mutations works', async () => {
    const { push, as } = setUp();
    const request = pushRequest(
      'g',
      Array.from({ length: 3000 }, (_, i) => append('c', i + 1)),
    );
    const started = performance.now();
    expect(await push(request, as('u'))).toBeNull();
    console.log(`3,000 mutations: ${Math.round(performance.now() - started)} ms`);
    expect(await lastMutationIDs(database.pool)).toEqual({ c: 3000 });
  });

  it('records the transaction that applied a mutation', async () => {
    const { push, as } = setUp();
    await push(pushRequest('g', [append('c', 1), append('c', 2)]), as('u'));
    const { rows } = await database.pool.query(
      'select client.xid::text as recorded, entry.xmin::text as wrote from tidemark.client, entry where n = 2',
    );
    expect(rows[0].recorded).toBe(rows[0].wrote);
  });
});

describe('a gap in the mutation IDs', () => {
  it('of a known client is refused, and the mutations before it remain applied', async () => {
    const { push, as } = setUp();
    const request = pushRequest('g', [append('c', 1), append('c', 3)]);
    await expect(push(request, as('u'))).rejects.toMatchObject({ code: 'mutation-gap', status: 409 });
    expect(await lastMutationIDs(database.pool)).toEqual({ c: 1 });
  });

  it('of an unknown client is answered with ClientStateNotFound', async () => {
    const { push, as } = setUp();
    const lost = { error: 'ClientStateNotFound' };
    expect(await push(pushRequest('g', [append('c', 5)]), as('u'))).toEqual(lost);
    expect((await database.pool.query('select from tidemark.client_group')).rowCount).toBe(0);
    expect(await push(pushRequest('g', [append('a', 1), append('c', 5)]), as('u'))).toEqual(lost);
    expect(await lastMutationIDs(database.pool)).toEqual({ a: 1 });
  });
});

describe('the server', () => {
  it("refuses another user's client group, also while both register it", async () => {
    const { push, as } = setUp();
    const answers = await Promise.allSettled(
      ['u', 'v'].map((user) => push(pushRequest('g', [append(user, 1)]), as(user))),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual(['fulfilled', 'rejected']);
    const { rows } = await database.pool.query('select user_id from tidemark.client_group');
    const loser = rows[0].user_id === 'u' ? 'v' : 'u';
    await expect(push(pushRequest('g', [append('x', 1)]), as(loser))).rejects.toMatchObject({ code: 'forbidden' });
    expect(await entries()).toHaveLength(1);
  });

  it('gives a client group to the user who registers it first, and applies nothing of another user', async () => {
    const raced = announced(db, async ({ text }) => {
      if (!text.startsWith('insert into tidemark.client_group')) return;
      await database.pool.query("insert into tidemark.client_group (id, user_id) values ('g', 'v')");
    });
    const { push, as } = setUp(undefined, raced);
    await expect(push(pushRequest('g', [append('c', 1)]), as('u'))).rejects.toMatchObject({ code: 'forbidden' });
    const { rows } = await database.pool.query('select user_id from tidemark.client_group');
    expect(rows).toEqual([{ user_id: 'v' }]);
    expect(await entries()).toEqual([]);
    expect(await lastMutationIDs(database.pool)).toEqual({});
  });

  it('refuses a client of another group, with any mutation ID', async () => {
    const { push, as } = setUp();
    await push(pushRequest('g', [append('c', 1)]), as('u'));
    for (const id of [1, 2, 3]) {
      await expect(push(pushRequest('h', [append('c', id)]), as('u'))).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(await entries()).toHaveLength(1);
  });
});

describe('the answer to a push', () => {
  it('is VersionNotSupported if the schema version is not served', async () => {
    const { push, as } = setUp(['1', '2']);
    expect(await push({ ...pushRequest('g', [append('c', 1)]), schemaVersion: '3' }, as('u'))).toEqual({
      error: 'VersionNotSupported',
      versionType: 'schema',
    });
    expect(await push({ ...pushRequest('g', [append('c', 1)]), schemaVersion: '2' }, as('u'))).toBeNull();
  });

  it('is null if the push is empty', async () => {
    const { push, as } = setUp();
    expect(await push(pushRequest('g', []), as('u'))).toBeNull();
  });
});
