/** The states of a table between a snapshot and now, compared with the table's contents. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSnapshot, type Snapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { unseenLiterals } from '../../../packages/tidemark/src/store/patches/logged-rows.js';
import {
  type SyncedTable,
  stateQueries,
  states,
  versionQueries,
} from '../../../packages/tidemark/src/store/patches/states.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, installationOf, wholeTable } from '../../support/synced.js';

const views = wholeTable('item', ['a', 'b']);
const key = (row: Row) => `${row.a}/${row.b}`;

interface Row {
  readonly a: number;
  readonly b: string;
  readonly n: number | null;
}

let database: TestDatabase;
let table: SyncedTable;
let slow: pg.Client;

beforeAll(async () => {
  database = await createSynced('create table item (n int, b text, a int, primary key (a, b))', views);
  [table] = (await installationOf(database.url, views)).tables as unknown as [SyncedTable];
  slow = new pg.Client(database.url);
  await slow.connect();
});

afterAll(async () => {
  await slow.end();
  await database.drop();
});

const run = (sql: string) => database.pool.query<Row>(sql);

/** A pseudo-random sequence. Statements take small remainders of it, so that rows return to earlier values. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647;
    yield state;
  }
}

function statementOf(random: Iterator<number>): string {
  const next = (limit: number) => (random.next().value as number) % limit;
  const where = `where a = ${next(3)} and b = '${next(3)}'`;
  switch (next(4)) {
    case 0:
      return `delete from item ${where}`;
    case 1:
      return `update item set n = ${next(2)} ${where}`;
    case 2:
      return `update item set a = ${next(3)} ${where} and not exists (select from item i where i.b = item.b and i.a <> item.a)`;
    default:
      return `insert into item (a, b, n) values (${next(3)}, '${next(3)}', ${next(2)}) on conflict (a, b) do update set n = null`;
  }
}

async function read(queries: readonly string[], name: string): Promise<Map<string, Row>> {
  const { rows } = await run(`with ${queries.join(', ')} select a, b, n from ${name}`);
  const byKey = new Map(rows.map((row) => [key(row), { a: row.a, b: row.b, n: row.n }]));
  expect(byKey.size).toBe(rows.length);
  return byKey;
}

const only = (rows: ReadonlyMap<string, Row>, keys: ReadonlySet<string>) =>
  new Map([...rows].filter(([one]) => keys.has(one)));

/** The keys whose rows differ. */
function differing(before: ReadonlyMap<string, Row>, after: ReadonlyMap<string, Row>): Set<string> {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return new Set([...keys].filter((one) => JSON.stringify(before.get(one)) !== JSON.stringify(after.get(one))));
}

/** Random writes before and after a snapshot, some by a transaction that is open when the snapshot is taken. */
async function history(seed: number): Promise<{ before: Map<string, Row>; snapshot: Snapshot }> {
  const random = numbers(seed);
  const write = async (times: number) => {
    for (let i = 0; i < times; i++) await run(statementOf(random));
  };
  await write(8);
  await slow.query('begin');
  await slow.query(statementOf(random));
  // These writes must not wait for the open transaction's locks.
  await run(`insert into item (a, b, n) values (${10 + seed}, 'x', 1), (${10 + seed}, 'y', 1)`);
  const { rows } = await run(
    'select pg_current_snapshot()::text as text, a, b, n from (select) one left join item on true',
  );
  const [{ text }] = rows as unknown as [{ text: string }];
  const before = new Map(rows.filter(({ a }) => a !== null).map(({ a, b, n }) => [`${a}/${b}`, { a, b, n }]));
  await run(`update item set n = 2 where a = ${10 + seed}; delete from item where a = ${10 + seed} and b = 'x'`);
  await slow.query(`insert into item (a, b, n) values (${10 + seed}, 'z', 1)`);
  await slow.query('commit');
  await write(8);
  return { before, snapshot: parseSnapshot(text)! };
}

describe.each([1, 1000])('with about %i log rows', (rows) => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('each table state has the rows of its time (seed %i)', async (seed) => {
    const { before, snapshot } = await history(seed + rows);
    const now = await read(['one as (select)'], 'item');
    const queries = stateQueries(table, unseenLiterals(snapshot), rows);
    const changed = differing(before, now);
    expect(changed.size).toBeGreaterThan(0);

    expect(await read(queries, states.asOf(table.id))).toEqual(before);
    expect(await read(queries, states.newRows(table.id))).toEqual(only(now, changed));
    expect(await read(queries, states.oldRows(table.id))).toEqual(only(before, changed));

    const versions = versionQueries(table, unseenLiterals(snapshot), rows);
    const { rows: all } = await run(
      `with ${versions.join(', ')} select distinct a, b, n from ${states.allVersions(table.id)}`,
    );
    for (const row of [...before.values(), ...now.values()]) expect(all).toContainEqual(row);
  });
});

it('a row that has its earlier values again has not changed', async () => {
  await run("insert into item (a, b, n) values (99, 'x', 1)");
  const { rows } = await run('select pg_current_snapshot()::text as text');
  const snapshot = parseSnapshot((rows as unknown as [{ text: string }])[0].text)!;
  await run('update item set n = 2 where a = 99; update item set n = 1 where a = 99; delete from item where a = 99');
  await run("insert into item (a, b, n) values (99, 'x', 1); insert into item (a, b, n) values (98, 'x', 1)");
  await run('delete from item where a = 98');
  const { rows: changed } = await run(
    `with ${stateQueries(table, unseenLiterals(snapshot), 10).join(', ')} select * from ${states.changedKeys(table.id)}`,
  );
  expect(changed).toEqual([]);
});
