/** The statements of pulls and pokes for views of several kinds. The golden file shows a change of any statement. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database, Statement } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { allSeen } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { findAffectedCohorts } from '../../../packages/tidemark/src/store/affected-cohorts.js';
import { cohortSql } from '../../../packages/tidemark/src/store/patches/cohorts.js';
import { fullPatch } from '../../../packages/tidemark/src/store/patches/full-patch.js';
import { deltaQuery } from '../../../packages/tidemark/src/store/patches/patch-sql.js';
import type { SyncedTable } from '../../../packages/tidemark/src/store/patches/states.js';
import { ClientViews, type ResolvedView } from '../../../packages/tidemark/src/view/client-views.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
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

const withOptions: Views<Context> = {
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

const observation = `select '' as line`;

/** The statements for one view, if all of its tables have changed. */
async function statementsOf(resolved: ResolvedView, tables: readonly SyncedTable[]): Promise<string[]> {
  const { view } = resolved;
  const changes = tables.filter(({ oid }) => view.occurrenceTables.includes(oid)).map((table) => ({ table, rows: 1 }));
  const statements: Statement[] = [];
  const recorder = {
    async query(statement: Statement) {
      statements.push(statement);
      return [];
    },
  };
  const request = { view, cohorts: [resolved], mode: 'net', timeoutMs: 1 } as const;
  await findAffectedCohorts(recorder as Pick<Database, 'query'>, request, changes, allSeen);
  const full = fullPatch(observation, [resolved]);
  const named: [string, string][] = [
    ['all rows', full.statement],
    ['ops from its fields', JSON.stringify(full.ops, undefined, 2)],
    ['a delta with checksums', deltaQuery(observation, [resolved], changes, allSeen, 'whole')],
    ['a delta for several cohorts', view.cohortView ? cohortSql([view], changes, true) : 'none'],
    ['affected cohorts', statements[0]!.text],
  ];
  return named.map(([title, text]) => `-- ${view.name}: ${title}\n${text};\n`);
}

async function allStatements(views: Views<Context>): Promise<string> {
  const input = { ctx: { userID: 'ada' }, profileID: '', schemaVersion: '' };
  const { tables } = await installationOf(database.pool, views);
  const resolved = await new ClientViews(db, views).resolve(input, '');
  const statements = await Promise.all(resolved.map((view) => statementsOf(view, tables)));
  return statements.flat().join('\n');
}

it('the statements for plain views match the golden file', async () => {
  await expect(await allStatements(plain)).toMatchFileSnapshot('../../golden/plain-views.sql');
});

it('the statements for views with options match the golden file', async () => {
  await expect(await allStatements(withOptions)).toMatchFileSnapshot('../../golden/shaped-views.sql');
});

it.each([false, true])(
  'a limited full patch has all rows, or none and no observation (counted first: %s)',
  async (countsFirst) => {
    await database.pool.query(
      `insert into todo select n, 'ada', 'todo', n, n % 3 from generate_series(1, 9) n on conflict do nothing`,
    );
    const input = { ctx: { userID: 'ada' }, profileID: '', schemaVersion: '' };
    const { chosen: _, ...views } = plain;
    const resolved = await new ClientViews(db, views).resolve(input, '');
    const whole = await linesOf(fullPatch(observation, resolved));
    const limited = (rows: number) => linesOf(fullPatch(observation, resolved, 'ops', { rows, countsFirst }));
    // The views todo and exact show nine rows each, and newest two.
    expect(whole).toHaveLength(1 + 20);
    expect(await limited(20)).toEqual(whole);
    expect(await limited(19)).toEqual([['null', ...whole[0]!.slice(1)]]);
  },
);

/** The lines that COPY yields, in fields. */
async function linesOf({ statement }: { readonly statement: string }): Promise<string[][]> {
  const { rows } = await database.pool.query<string[]>({
    text: statement.slice('copy ('.length, statement.lastIndexOf(') to stdout')),
    rowMode: 'array',
  });
  return rows;
}
