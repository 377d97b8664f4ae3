/** How the change log is read, while it is as small as can be. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Statement } from '../../../src/db/database.js';
import { parseSnapshot } from '../../../src/protocol/snapshot.js';
import { mostRows, readReport } from '../../../src/store/header.js';
import { look, news } from '../../../src/store/look.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, wholeTable } from '../../support/synced.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createSynced('create table item (id int primary key)', wholeTable('item'));
  await database.pool.query('insert into item values (1); analyze tidemark.change');
});
afterAll(() => database.drop());

/** How a statement reads the log, once it has a plan that is kept. */
async function scansOf(statement: pg.QueryConfig): Promise<unknown> {
  const client = await database.pool.connect();
  try {
    for (let i = 0; i < 10; i++) await client.query(statement);
    await client.query('begin');
    const { rows } = await client.query(statement);
    expect(JSON.stringify(rows)).toContain('1');
    const found = await client.query(
      `select seq_scan::int, idx_scan > 0 as by_index from pg_stat_xact_user_tables
       where schemaname = 'tidemark' and relname = 'change'`,
    );
    await client.query('rollback');
    return found.rows[0];
  } finally {
    client.release();
  }
}

const base = parseSnapshot('3:3:')!;

it('a look reads it by its index, so that the plan is also right when the log has grown', async () => {
  const { name, text, values } = look({ base, tables: [1], isListed: true });
  expect(await scansOf({ name: name!, text, values: [...values!] })).toEqual({ seq_scan: 0, by_index: true });
});

it('and so does a delta', async () => {
  const text = `select * from tidemark.unseen(1, '{3}', '{18446744073709551615}')`;
  expect(await scansOf({ name: 'unseen', text })).toEqual({ seq_scan: 0, by_index: true });
});

describe('a log that has never been analyzed, of which Postgres believes that hardly any rows are wanted', () => {
  let grown: TestDatabase;
  beforeAll(async () => {
    grown = await createSynced('create table item (id int primary key)', wholeTable('item'));
    await grown.pool.query('insert into item select generate_series(1, 150000)');
  });
  afterAll(() => grown.drop());

  const queryOf = ({ text, values = [] }: Statement): pg.QueryConfig => ({ text, values: [...values] });

  /** What a statement returns, and how many rows of the log it reads. */
  async function reading(statement: pg.QueryConfig): Promise<{ rows: unknown[]; read: number }> {
    const client = await grown.pool.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query(statement);
      const { rows: reads } = await client.query<{ read: number }>(
        `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
         where schemaname = 'tidemark' and relname = 'change'`,
      );
      return { rows, read: reads[0]!.read };
    } finally {
      client.release(true);
    }
  }

  /** How many pages a statement touches, once its connection knows the catalogs. */
  async function buffersOf({ text, values = [] }: pg.QueryConfig): Promise<number> {
    const client = await grown.pool.connect();
    try {
      const explain = () => client.query(`explain (analyze, buffers, format json) ${text}`, values);
      for (let i = 0; i < 10; i++) await explain();
      const [{ Plan: plan }] = (await explain()).rows[0]['QUERY PLAN'];
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    } finally {
      client.release();
    }
  }

  // Planning reads some rows at the ends of the index, too.
  const more = 1000;

  it('is read by a look as far as is counted', async () => {
    const { text, values } = look({ base, tables: [1] });
    const { rows, read } = await reading({ text, values: [...values!] });
    const [{ line }] = rows as [{ line: string }];
    expect(readReport(line).header.changed).toEqual([[1, mostRows]]);
    expect(read).toBeLessThan(mostRows + more);
  });

  it('is not read by a look where what has been written is not committed yet', async () => {
    const bulk = await grown.pool.connect();
    try {
      await bulk.query('begin; insert into item select generate_series(150001, 200000)');
      await grown.pool.query('insert into item values (0)');
      const headerOf = ({ rows }: { rows: unknown[] }) => readReport((rows as [{ line: string }])[0].line).header;
      const { snapshot } = headerOf(await reading(queryOf(look({ base, tables: [] }))));
      const asked = queryOf(look({ base: snapshot, tables: [1] }));
      expect(headerOf(await reading(asked)).changed).toEqual([]);
      expect(await buffersOf(asked)).toBeLessThan(100);
      await bulk.query('rollback');
    } finally {
      bulk.release(true);
    }
  });

  it('is read as far as changed keys are counted', async () => {
    const text = `select * from tidemark.changed_keys('{1}', '{3}', '{18446744073709551615}', 100)`;
    const { rows, read } = await reading({ text });
    expect(rows).toEqual([{ keys: 100, changes: 100 }]);
    expect(read).toBeLessThan(100 + more);
  });
});

it('a look at a database in which nothing has happened does not read it at all', async () => {
  const client = await database.pool.connect();
  const ask = async (seen?: Parameters<typeof news>[1]) => {
    const { text, values } = news({ base, tables: [1], isListed: true }, seen);
    return (await client.query<{ line: string }>({ text, values: [...values!] })).rows;
  };
  const reads = async () => {
    const { rows } = await client.query(`select calls::int from pg_stat_xact_user_functions where funcname = 'look'`);
    return rows[0]?.calls ?? 0;
  };
  try {
    await client.query(`set track_functions = 'pl'; begin isolation level repeatable read`);
    const [row] = await ask();
    expect(await reads()).toBe(1);
    expect(await ask(readReport(row!.line).header)).toEqual([]);
    expect(await reads()).toBe(1);
    await client.query('rollback');
  } finally {
    client.release(true);
  }
});
