import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSync, defineView, migrate, type Sync, sql } from '../../../packages/tidemark/src/index.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';

interface Context {
  readonly userID: string;
}

/** A user's query reads tables that depend on the user. */
const views = {
  item: defineView({
    key: 'id',
    query: ({ ctx }: { ctx: Context }) => {
      if (ctx.userID === 'auditor') return sql<{ id: number }>`select id from item where id in (select id from audit)`;
      if (ctx.userID === 'guest') {
        return sql<{ id: number }>`select id from item where id in (select id from uncaptured)`;
      }
      return sql<{ id: number }>`select id from item`;
    },
  }),
};

let database: TestDatabase;
let sync: Sync;
const { log } = memoryLog();

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(`
    create table item (id int primary key); create table audit (id int primary key); create table uncaptured (id int primary key);
    insert into item values (1), (2); insert into audit values (1)`);
  await migrate({ database: database.url, views, log: silent });
  await migrate({ database: database.url, views, sampleContext: { userID: 'auditor' }, log: silent });
  sync = await createSync({
    database: database.url,
    views,
    log,
    authenticate: (request) => ({ userID: request.headers.get('Authorization')! }),
  });
});

afterAll(async () => {
  await sync.close();
  await database.drop();
});

async function pull(server: Sync, userID: string, cookie: unknown = null) {
  const body = { pullVersion: 1, clientGroupID: userID, profileID: 'p', schemaVersion: '', cookie };
  const headers = { 'Content-Type': 'application/json', Authorization: userID };
  const response = await server.fetch(
    new Request('http://localhost/sync/pull', { method: 'POST', headers, body: JSON.stringify(body) }),
  );
  return { status: response.status, answer: await response.json() };
}

it('a table that only some users read does not affect the cookies of others, on any server', async () => {
  const first = await pull(sync, 'ann');
  expect((await pull(sync, 'auditor')).answer.patch).toHaveLength(1);
  const unchanged = { cookie: first.answer.cookie, lastMutationIDChanges: {}, patch: [] };
  expect((await pull(sync, 'ann', first.answer.cookie)).answer).toEqual(unchanged);

  const other = await createSync({
    database: database.url,
    views,
    log,
    authenticate: (request) => ({ userID: request.headers.get('Authorization')! }),
  });
  expect((await pull(other, 'ann', first.answer.cookie)).answer).toEqual(unchanged);
  await other.close();
});

it('simultaneous first pulls of a new server are all answered', async () => {
  const fresh = await createSync({
    database: database.url,
    views,
    log,
    authenticate: (request) => ({ userID: request.headers.get('Authorization')! }),
  });
  const users = ['ann', 'auditor', 'ben', 'auditor', 'cam'];
  const answers = await Promise.all(users.map((user) => pull(fresh, user)));
  expect(answers.map(({ answer }) => answer.patch.length)).toEqual([2, 1, 2, 1, 2]);
  await fresh.close();
});

it('a query over a table that is not captured is refused only to its own users', async () => {
  expect(await pull(sync, 'guest')).toMatchObject({ status: 503, answer: { code: 'unavailable' } });
  expect((await pull(sync, 'ann')).status).toBe(200);
  expect((await pull(sync, 'auditor')).status).toBe(200);
});
