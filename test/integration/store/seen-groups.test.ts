import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { claimMutation, registerGroup } from '../../../packages/tidemark/src/store/client-groups.js';
import { forgetGroups, SeenGroups } from '../../../packages/tidemark/src/store/seen-groups.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, wholeTable } from '../../support/synced.js';

const day = 24 * 60 * 60;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createSynced('create table t (id int primary key)', wholeTable('t'));
  db = openPool(database.url, { max: 3 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(() => database.pool.query('truncate tidemark.client, tidemark.client_group'));

const run = (text: string, values: unknown[] = []) => database.pool.query(text, values);

/** Registers client groups with a client each, last seen this many days ago. */
async function register(...groups: [id: string, days: number][]): Promise<void> {
  for (const [id, days] of groups) {
    await registerGroup(db, id, 'ann');
    const { text, values } = claimMutation({ clientGroupID: id, clientID: `of ${id}`, mutationID: 1 }, 'ann');
    await run(text, [...values!]);
    await run('update tidemark.client_group set seen_at = now() - make_interval(days => $1) where id = $2', [days, id]);
  }
}

/** The remaining client groups, and how many whole days ago they were seen. */
async function remainingGroups(): Promise<Record<string, number>> {
  const { rows } = await run(
    `select g.id, extract(day from now() - seen_at)::int as days from tidemark.client_group g
     join tidemark.client c on c.client_group_id = g.id and c.id = 'of ' || g.id order by g.id`,
  );
  return Object.fromEntries(rows.map(({ id, days }) => [id, days]));
}

describe('forgetGroups', () => {
  it('deletes groups not seen for longer than the retention, with their clients', async () => {
    await register(['old', 31], ['young', 29], ['new', 0]);
    expect(await forgetGroups(db, 30 * day)).toBe(1);
    expect(await remainingGroups()).toEqual({ young: 29, new: 0 });
    const { rows } = await run('select count(*)::int as clients from tidemark.client');
    expect(rows).toEqual([{ clients: 2 }]);
  });

  it('deletes any number of groups', async () => {
    await run(
      `insert into tidemark.client_group (id, user_id, seen_at) select 'g' || n, 'ann', now() - interval '31 days' from generate_series(1, 2500) n`,
    );
    expect(await forgetGroups(db, 30 * day)).toBe(2500);
  });

  it('skips a group that is being written to', async () => {
    await register(['busy', 31], ['old', 31]);
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      await client.query(`insert into tidemark.client values ('another', 'busy', 1, pg_current_xact_id())`);
      expect(await forgetGroups(db, 30 * day)).toBe(1);
    } finally {
      await client.query('rollback');
      client.release();
    }
    expect(await remainingGroups()).toEqual({ busy: 31 });
  });
});

describe('SeenGroups', () => {
  it('records when groups were seen, unless that was recorded a short time ago', async () => {
    await register(['old', 31], ['recent', 0], ['silent', 31]);
    await run(`update tidemark.client_group set seen_at = now() - interval '2 hours' where id = 'recent'`);
    const seen = new SeenGroups();
    for (const id of ['old', 'recent', 'unknown']) seen.note(id);
    await seen.write(db);
    expect(await remainingGroups()).toEqual({ old: 0, recent: 0, silent: 31 });
    const { rows } = await run(
      `select seen_at < now() - interval '1 hour' as kept from tidemark.client_group where id = 'recent'`,
    );
    expect(rows).toEqual([{ kept: true }]);
  });

  it('records each group once a day', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      await register(['a', 31]);
      const query = vi.fn(async () => []);
      const seen = new SeenGroups();
      const writes = async () => {
        seen.note('a');
        query.mockClear();
        await seen.write({ query });
        return query.mock.calls.length;
      };
      expect([await writes(), await writes()]).toEqual([1, 0]);
      vi.advanceTimersByTime((day + 1) * 1000);
      expect([await writes(), await writes(), await writes()]).toEqual([0, 1, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('records groups again after a failed write', async () => {
    await register(['a', 31]);
    const seen = new SeenGroups();
    seen.note('a');
    await expect(seen.write({ query: () => Promise.reject(new Error('down')) })).rejects.toThrow('down');
    seen.note('a');
    await seen.write(db);
    expect(await remainingGroups()).toEqual({ a: 0 });
  });

  it('does not wait for other transactions that write to a group', async () => {
    await register(['a', 31], ['b', 31]);
    const client = await database.pool.connect();
    try {
      await client.query(`begin; update tidemark.client_group set seen_at = now() where id = 'a'`);
      const seen = new SeenGroups();
      for (const id of ['a', 'b']) seen.note(id);
      await seen.write(db);
    } finally {
      await client.query('rollback');
      client.release();
    }
    expect(await remainingGroups()).toEqual({ a: 31, b: 0 });
  });
});
