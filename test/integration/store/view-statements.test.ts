/** What the statements of pulls and pokes are made of, for views of several kinds: the golden file shows a change of any. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database, Statement } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { allSeen } from '../../../src/protocol/snapshot.js';
import { sql } from '../../../src/sql.js';
import { findAffected } from '../../../src/store/affected.js';
import { fullPatch } from '../../../src/store/patches/full-patch.js';
import { deltaQuery } from '../../../src/store/patches/patch-sql.js';
import { seatedSql } from '../../../src/store/patches/seats.js';
import type { SyncedTable } from '../../../src/store/patches/states.js';
import { type BoundView, ClientViews } from '../../../src/view/client-views.js';
import { defineView, type Views } from '../../../src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, installationOf } from '../../support/synced.js';

const ddl = `
  create table todo (id int primary key, owner_id text not null, title text, size bigint, price numeric, at timestamptz);
  create table share (list_id text, user_id text, primary key (list_id, user_id))`;

const plain: Views<Context> = {
  todo: defineView({ query: ({ ctx }) => sql`select id, title from todo where owner_id = ${ctx.userID}`, key: 'id' }),
  exact: defineView({ query: () => sql`select id, size, price, at from todo`, key: 'id', prefix: "o'" }),
  share: defineView({
    query: ({ ctx }) => sql`select * from share where user_id = ${ctx.userID}`,
    key: ['list_id', 'user_id'],
  }),
  newest: defineView({ query: () => sql`select id, title from todo order by id desc limit 2`, key: 'id' }),
  chosen: defineView({ query: () => sql`select distinct price as p from todo`, key: 'p' }),
};

const shaped: Views<Context> = {
  ofUser: defineView({
    query: ({ ctx }) => sql`select id, owner_id, title from todo where owner_id = ${ctx.userID}`,
    key: 'owner/{owner_id}/todo/{id}',
    prefix: ({ ctx }) => `${ctx.userID}/`,
    value: 'title',
  }),
  present: defineView({
    query: () => sql`select id, owner_id, title, at from todo`,
    key: 'id',
    columns: 'camelCase',
    nulls: 'omit',
    timestamps: 'UTC',
  }),
  number: defineView({ query: () => sql`select id, price from todo`, key: 'price/{id}', value: 'price' }),
};

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createSynced(ddl, plain);
  db = openPool(database.url, { max: 2 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const report = `select '' as line`;

/** The statements for one view, each of whose tables has changed. */
async function statementsOf(bound: BoundView, tables: readonly SyncedTable[]): Promise<string[]> {
  const { view } = bound;
  const changes = tables.filter(({ oid }) => view.occurrenceTables.includes(oid)).map((table) => ({ table, rows: 1 }));
  const asked: Statement[] = [];
  const recorder = {
    async query(statement: Statement) {
      asked.push(statement);
      return [];
    },
  };
  const question = { view, seats: [bound], mode: 'net', timeoutMs: 1 } as const;
  await findAffected(recorder as Pick<Database, 'query'>, question, changes, allSeen);
  const full = fullPatch(report, [bound]);
  const named: [string, string][] = [
    ['all rows', full.statement],
    ['ops from its fields', JSON.stringify(full.ops, undefined, 2)],
    ['a delta, audited', deltaQuery(report, [bound], changes, allSeen, 'whole')],
    ['a delta of several seats', view.seated ? seatedSql([view], changes, true) : 'none'],
    ['whom to poke', asked[0]!.text],
  ];
  return named.map(([title, text]) => `-- ${view.name}: ${title}\n${text};\n`);
}

async function allStatements(views: Views<Context>): Promise<string> {
  const input = { ctx: { userID: 'ada' }, profileID: '', schemaVersion: '' };
  const { tables } = await installationOf(database.pool, views);
  const bound = await new ClientViews(db, views).bind(input, '');
  const statements = await Promise.all(bound.map((one) => statementsOf(one, tables)));
  return statements.flat().join('\n');
}

it('are for plain views those of the golden file', async () => {
  await expect(await allStatements(plain)).toMatchFileSnapshot('../../golden/plain-views.sql');
});

it('are for views with options those of another', async () => {
  await expect(await allStatements(shaped)).toMatchFileSnapshot('../../golden/shaped-views.sql');
});
