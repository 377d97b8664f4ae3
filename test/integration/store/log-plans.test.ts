/** The plans that read the change log while it is as small as possible. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Statement } from '../../../packages/tidemark/src/db/database.js';
import { parseSnapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import { maxRows, readObservation } from '../../../packages/tidemark/src/store/polls/observation.js';
import { pollIfChanged, pollStatement } from '../../../packages/tidemark/src/store/polls/poll.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, wholeTable } from '../../support/synced.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createSynced('create table item (id int primary key)', wholeTable('item'));
  await database.pool.query('insert into item values (1); analyze tidemark.change');
});
afterAll(() => database.drop());

/** The scans of the log by a statement with a generic plan. */
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

it('a poll reads the change log by its index, so the plan is also good for a large log', async () => {
  const { name, text, values } = pollStatement({ base, tables: [1], isListed: true });
  expect(await scansOf({ name: name!, text, values: [...values!] })).toEqual({ seq_scan: 0, by_index: true });
});

it('a delta reads the change log by its index', async () => {
  const text = `select * from tidemark.unseen(1, '{3}', '{18446744073709551615}')`;
  expect(await scansOf({ name: 'unseen', text })).toEqual({ seq_scan: 0, by_index: true });
});

describe('a large change log without statistics', () => {
  let grown: TestDatabase;
  beforeAll(async () => {
    grown = await createSynced('create table item (id int primary key)', wholeTable('item'));
    await grown.pool.query('insert into item select generate_series(1, 150000)');
  });
  afterAll(() => grown.drop());

  const queryOf = ({ text, values = [] }: Statement): pg.QueryConfig => ({ text, values: [...values] });

  /** The rows that a statement returns, and the number of log rows that it reads. */
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

  /** The number of pages that a statement touches, once its connection has cached the catalogs. */
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

  // Planning also reads some rows at the ends of the index.
  const more = 1000;

  it('is read by a poll only as far as it counts', async () => {
    const { text, values } = pollStatement({ base, tables: [1] });
    const { rows, read } = await reading({ text, values: [...values!] });
    const [{ line }] = rows as [{ line: string }];
    expect(readObservation(line).state.changeCounts).toEqual([[1, maxRows]]);
    expect(read).toBeLessThan(maxRows + more);
  });

  it('is not read by a poll where its rows are not committed yet', async () => {
    const bulk = await grown.pool.connect();
    try {
      await bulk.query('begin; insert into item select generate_series(150001, 200000)');
      await grown.pool.query('insert into item values (0)');
      const stateOf = ({ rows }: { rows: unknown[] }) => readObservation((rows as [{ line: string }])[0].line).state;
      const { snapshot } = stateOf(await reading(queryOf(pollStatement({ base, tables: [] }))));
      const query = queryOf(pollStatement({ base: snapshot, tables: [1] }));
      expect(stateOf(await reading(query)).changeCounts).toEqual([]);
      expect(await buffersOf(query)).toBeLessThan(100);
      await bulk.query('rollback');
    } finally {
      bulk.release(true);
    }
  });

  it('is read only as far as changed keys are counted', async () => {
    const text = `select * from tidemark.changed_keys('{1}', '{3}', '{18446744073709551615}', 100)`;
    const { rows, read } = await reading({ text });
    expect(rows).toEqual([{ keys: 100, changes: 100 }]);
    expect(read).toBeLessThan(100 + more);
  });
});

it('a poll does not read the change log if nothing has happened in the database', async () => {
  const client = await database.pool.connect();
  const poll = async (previous?: Parameters<typeof pollIfChanged>[1]) => {
    const { text, values } = pollIfChanged({ base, tables: [1], isListed: true }, previous);
    return (await client.query<{ line: string }>({ text, values: [...values!] })).rows;
  };
  const reads = async () => {
    const { rows } = await client.query(`select calls::int from pg_stat_xact_user_functions where funcname = 'poll'`);
    return rows[0]?.calls ?? 0;
  };
  try {
    await client.query(`set track_functions = 'pl'; begin isolation level repeatable read`);
    const [row] = await poll();
    expect(await reads()).toBe(1);
    expect(await poll(readObservation(row!.line).state)).toEqual([]);
    expect(await reads()).toBe(1);
    await client.query('rollback');
  } finally {
    client.release(true);
  }
});
