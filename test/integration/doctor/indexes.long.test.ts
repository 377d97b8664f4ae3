import { afterEach, describe, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type View, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { Context } from '../../support/synced.js';
import { mine, only, owner, server, usePatient } from './patient.js';

const patient = usePatient(`
  create table todo (id int primary key, owner_id text, list_id int, state text);
  create table list (id int primary key, owner_id varchar(20));
  create table event (id int primary key, owner_id text) partition by range (id);
  create table early partition of event for values from (0) to (12001);
  create table late partition of event for values from (12001) to (100000);
  insert into list select i, i % 100 from generate_series(1, 2000) i;
  insert into todo select i, i % 1000, i % 2000, case when i % 50 = 0 then 'open' else 'done' end
    from generate_series(1, 20000) i;
  insert into event select i, i % 1000 from generate_series(1, 20000) i;
  analyze todo, list, event`);

const view = (query: View<Context, unknown, unknown, unknown, undefined>['query']): Views<Context> => ({
  seen: defineView({ query, key: 'id' }),
});
const inLists = view(
  ({ ctx }) => sql`select t.id, t.state from todo t join list l on l.id = t.list_id where l.owner_id = ${ctx.userID}`,
);
const ofEvents = view(({ ctx }) => sql`select id from event where owner_id = ${ctx.userID}`);

/** Captures the views' tables, and returns the findings about the views. */
async function found(views: Views<Context>, code = 'missing-index') {
  await patient.migrate(views);
  await patient.run(`grant select on all tables in schema public to ${server}`);
  return only(await patient.findings({ views }), code);
}

async function followAdvice(statements: string): Promise<void> {
  for (const statement of statements.split('; ')) await patient.run(statement);
}

afterEach(() =>
  patient.run(`do $$ declare name text; begin
    for name in select i.indexrelid::regclass from pg_index i join pg_class c on c.oid = indrelid
      where not indisprimary and relnamespace = 'public'::regnamespace and not c.relispartition
    loop execute 'drop index ' || name; end loop;
  end $$`),
);

describe('missing-index', () => {
  it.each<[name: string, views: Views<Context>, table: string, what: RegExp, index: string]>([
    [
      'for a parameter',
      mine,
      'public.todo',
      /^The view "mine" reads all of public\.todo, about 20000 rows, for each first pull and reset\.$/,
      'create index concurrently on "public"."todo" ("owner_id")',
    ],
    [
      'for a parameter and a constant',
      view(({ ctx }) => sql`select id from todo where owner_id = ${ctx.userID} and state = 'open' and id > 3`),
      'public.todo',
      /for each first pull/,
      'create index concurrently on "public"."todo" ("owner_id", "state")',
    ],
    [
      'for one parameter or another',
      view(({ ctx }) => sql`select id from todo where owner_id = ${ctx.userID} or list_id = ${7}`),
      'public.todo',
      /for each first pull/,
      'create index concurrently on "public"."todo" ("owner_id"); create index concurrently on "public"."todo" ("list_id")',
    ],
    [
      'for a join from the other side',
      inLists,
      'public.todo',
      /reads all of public\.todo, .* for each delta after a change of public\.list\.$/,
      'create index concurrently on "public"."todo" ("list_id")',
    ],
    [
      'on a partitioned table',
      ofEvents,
      'public.event',
      /reads all of public\.event, about 20000 rows,/,
      'create index on "public"."event" ("owner_id")',
    ],
    [
      'for a view that is compared',
      view(({ ctx }) => sql`select id from todo where owner_id = ${ctx.userID} order by state, id limit 5`),
      'public.todo',
      /for each first pull and reset/,
      'create index concurrently on "public"."todo" ("owner_id")',
    ],
  ])('reports a missing index %s, and its SQL creates it', async (_, views, table, what, index) => {
    const [finding, ...others] = await found(views);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: 'warning', subject: table, sql: index });
    expect(finding!.what).toMatch(what);
    await followAdvice(finding!.sql!);
    expect(await found(views)).toEqual([]);
  });
});

it('missing-index reports a missing index for an expression, without SQL', async () => {
  const [finding, ...others] = await found(
    view(({ ctx }) => sql`select id from todo where lower(owner_id) = lower(${ctx.userID})`),
  );
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ subject: 'public.todo', sql: null, advice: expect.stringContaining('EXPLAIN') });
});

describe('no missing index', () => {
  it.each<[name: string, views: Views<Context>]>([
    ['for all rows of a table', view(() => sql`select id, state from todo`)],
    ['for many rows of a table', view(() => sql`select id from todo where state = 'done'`)],
    ['for a small table', view(({ ctx }) => sql`select id from list where owner_id = ${ctx.userID}`)],
    ['for a key', view(() => sql`select id from todo where id = ${1}`)],
  ])('is reported %s', async (_, views) => {
    expect(await found(views)).toEqual([]);
  });
});

it('no missing index is reported if Postgres merely does not use the existing one', async () => {
  await patient.run('create index on todo (id, owner_id); create index on todo (owner_id)');
  const scans = ['enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan'];
  for (const scan of scans) await patient.run(`alter role ${server} set ${scan} = off`);
  expect(await found(mine)).toEqual([]);
  await patient.run('drop index todo_owner_id_idx');
  expect(await found(mine)).toHaveLength(1);
  await patient.run(`alter role ${server} reset all`);
});

it('not-analyzed reports a table that was never analyzed, and its SQL analyzes it', async () => {
  await patient.run(`create table fresh (id int primary key, owner_id text); alter table fresh owner to ${owner};
    alter table fresh set (autovacuum_enabled = off);
    insert into fresh select i, i % 10 from generate_series(1, 60000) i`);
  const views = view(({ ctx }) => sql`select id from fresh where owner_id = ${ctx.userID}`);
  const [finding] = await found(views, 'not-analyzed');
  expect(finding).toMatchObject({ severity: 'info', subject: 'public.fresh', sql: 'analyze "public"."fresh"' });
  expect(await found(views)).toEqual([]);
  await patient.run(finding!.sql!);
  expect(await found(views, 'not-analyzed')).toEqual([]);
  expect(await found(views)).toMatchObject([{ subject: 'public.fresh' }]);
});
