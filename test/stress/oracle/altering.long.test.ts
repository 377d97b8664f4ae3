/** Random changes to tables between random writes, and pulls by clients with cookies of any age. */
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { expect, it } from 'vitest';
import { Problem } from '../../../packages/tidemark/src/errors.js';
import { defineView, type View } from '../../../packages/tidemark/src/view/define.js';
import { useAltered } from '../../integration/pulls/altered.js';
import { type Context, type SyncClient, tableView } from '../../support/synced.js';

const altered = useAltered();

const view = (text: string, key = 'id'): View<Context> =>
  defineView<Record<string, unknown>>({ key, query: () => ({ text, values: [] }) });

const views = {
  plain: view('select id, n from t'),
  joined: view('select t.id, t.n, u.m from t join u using (id)'),
  counted: view(`select 'all' as id, count(*) as rows, sum(n) as total from t`),
  highest: view('select id, n from t order by n desc, id limit 2'),
  moods: view('select id, mood from t where n > 3'),
  split: view('select id, n from p'),
  whole: tableView('u', 'id', 'whole/'),
};
const schema = `create type mood as enum ('glad', 'sad');
  create table t (id int primary key, n int, a text default 'a, "b"', b int default 4, mood mood default 'sad');
  create table u (id int primary key, m int, a text);
  create table p (id int primary key, n int, a text) partition by range (id);
  create table low partition of p for values from (0) to (5);
  create table high (a text, id int primary key, n int)`;

function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state;
  }
}

/** A statement that runs if a condition is met. */
const where = (condition: string, statement: string) =>
  `do $do$ begin if ${condition} then ${statement}; end if; end $do$`;
const has = (table: string, column: string) =>
  `exists (select from pg_attribute where attrelid = '${table}'::regclass and attname = '${column}')`;
const isPartition = `exists (select from pg_inherits where inhrelid = 'high'::regclass)`;
const isLabel = `exists (select from pg_enum where enumtypid = 'mood'::regtype and enumlabel = 'sad')`;

/** Changes of columns that only whole rows show. They run if a condition is met. */
const ofColumns = (table: string, condition = 'true'): readonly string[] => [
  where(condition, `alter table ${table} add column if not exists x int default 7`),
  where(condition, `alter table ${table} drop column if exists x`),
  where(condition, `alter table ${table} drop column if exists x; alter table ${table} add column x text default 'x'`),
  where(`${condition} and ${has(table, 'a')}`, `alter table ${table} rename a to c`),
  where(`${condition} and ${has(table, 'c')}`, `alter table ${table} rename c to a`),
];
/** A table must have the columns to be attached. */
const ofHigh = ofColumns('high', `not ${isPartition}`);
const ofPartitions = ofColumns('p').map((ofParent, i) => `${ofParent}; ${ofHigh[i]}`);

const schemaChanges: readonly string[] = [
  ...ofColumns('t'),
  ...ofColumns('u'),
  ...ofPartitions,
  'alter table t add column if not exists y uuid default gen_random_uuid()',
  'alter table t drop column if exists y',
  ...['int', 'bigint', 'text'].map(
    (type) => `alter table t alter column b drop default, alter column b type ${type} using b::text::${type}`,
  ),
  ...['int', 'bigint'].map((type) => `alter table t alter column n type ${type}`),
  where(isLabel, `alter type mood rename value 'sad' to 'sorry'`),
  where(`not ${isLabel}`, `alter type mood rename value 'sorry' to 'sad'`),
  where(`not ${isPartition}`, 'alter table p attach partition high for values from (5) to (10)'),
  where(isPartition, 'alter table p detach partition high'),
];

it.each([1, 2, 3])(
  'every client holds the rows of its views after each pull (seed %i)',
  { timeout: 120_000 },
  async (seed) => {
    const { run, client, newcomer, elsewhere, passASecond, truth, url } = await altered.start(schema, { views });
    const random = numbers(seed * 7919);
    const next = (limit: number) => (random.next().value as number) % limit;
    const write = () => {
      const table = (['t', 't', 'u', 'p'] as const)[next(4)]!;
      const value = table === 'u' ? 'm' : 'n';
      const id = next(5);
      return [
        `delete from ${table} where id = ${id}`,
        `update ${table} set ${value} = ${next(9)} where id <= ${id}`,
        `insert into ${table} (id, ${value}) values (${id}, ${next(9)}) on conflict (id) do update set ${value} = 8`,
        `update ${table} set id = ${id + 10 * Number(table !== 'p')} where id = ${id} and not exists (select from ${table} o where o.id = ${id + 10})`,
      ][next(4)]!;
    };
    const schemaChange = () => schemaChanges[next(schemaChanges.length)]!;
    const clients = [client, ...Array.from({ length: 3 }, newcomer), elsewhere(), elsewhere()];
    // It gets its ID long before it writes.
    const slow = new pg.Client(url);
    await slow.connect();
    const kinds = new Set<string>();
    try {
      let isOpen = false;
      for (let step = 0; step < 150; step++) {
        const one = next(12);
        if (one < 4) await run(write());
        else if (one < 6) await run(schemaChange());
        else if (one === 6) await run(`${write()}; ${schemaChange()}; ${write()}`);
        else if (one === 7) await run(`begin; ${write()}; ${schemaChange()}; ${write()}; rollback`);
        else if (one === 8) {
          if (isOpen) await slow.query(`${write()}; ${write()}; commit`);
          else await slow.query('begin; select pg_current_xact_id()');
          isOpen = !isOpen;
        } else {
          if (next(2) === 0) passASecond();
          const puller: SyncClient = clients[next(clients.length)]!;
          const { cookie } = puller;
          // Until a server has detected the change, a statement may name something that no longer exists.
          const { patch } = await puller.pull().catch((error: unknown) => {
            expect(error).toBeInstanceOf(Problem);
            passASecond();
            return puller.pull();
          });
          const shown = await truth();
          if (!isDeepStrictEqual(puller.held(), shown)) {
            // A server may not have detected yet what only DDL has changed.
            passASecond();
            await puller.pull();
          }
          expect(puller.held(), `step ${step}`).toEqual(shown);
          if (cookie !== null) kinds.add(patch.length === 0 ? 'nothing' : patch[0]!.op === 'clear' ? 'reset' : 'delta');
        }
      }
    } finally {
      await slow.end();
    }
    expect([...kinds].sort()).toEqual(['delta', 'nothing', 'reset']);
  },
);
