/** Many groups of a user pull together from one base while others write: each sees exactly its cookie's snapshot. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, type PullAnswer, PullServer, tableView } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

/** Each row is a client's mutation, written in the transaction that counts it. */
const ddl = `
  create table entry (client_id text, n int, xid xid8 not null default pg_current_xact_id(), primary key (client_id, n))`;
const views = { entry: tableView('entry', ['client_id', 'n']) };
const groupCount = 30;
const rounds = 12;

let database: TestDatabase;
const watched = new WatchedDatabase();
let server: PullServer;

beforeAll(async () => {
  database = await createSynced(ddl, views);
  await database.pool.query(`
    insert into tidemark.client_group select 'g' || n, 'ada' from generate_series(0, ${groupCount - 1}) n;
    insert into tidemark.client select 'c' || n, 'g' || n, 0, pg_current_xact_id() from generate_series(0, ${groupCount - 1}) n`);
  server = new PullServer(database.url, views, watched.watch);
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

/** Applies one mutation of any client after another. Commits are out of order with those of other writers. */
async function write(isOver: () => boolean): Promise<void> {
  const client = await database.pool.connect();
  while (!isOver()) {
    const id = `c${Math.floor(Math.random() * groupCount)}`;
    await client.query('begin');
    await client.query(
      `with counted as (
         update tidemark.client set last_mutation_id = last_mutation_id + 1, xid = pg_current_xact_id() where id = $1
         returning id, last_mutation_id
       )
       insert into entry select id, last_mutation_id from counted`,
      [id],
    );
    await sleep(Math.random() * 20);
    await client.query('commit');
  }
  client.release();
}

class Group {
  readonly id: string;
  readonly clientID: string;
  readonly keys = new Set<string>();
  lastMutationID = 0;
  cookie: unknown;

  constructor(n: number, cookie: unknown) {
    this.id = `g${n}`;
    this.clientID = `c${n}`;
    this.cookie = cookie;
  }

  async pull(): Promise<void> {
    const { cookie, lastMutationIDChanges, patch }: PullAnswer = await server.pull(this.cookie, {
      clientGroupID: this.id,
    });
    for (const op of patch) {
      expect(op.op).toBe('put');
      if (op.op === 'put') this.keys.add(op.key);
    }
    expect(Object.keys(lastMutationIDChanges).filter((id) => id !== this.clientID)).toEqual([]);
    this.lastMutationID = lastMutationIDChanges[this.clientID] ?? this.lastMutationID;
    this.cookie = cookie;
  }

  /** Checks that the client holds the rows at its cookie's snapshot. */
  async expectSnapshot(): Promise<void> {
    const { rows } = await database.pool.query<{ key: string; client_id: string; n: number }>(
      `select client_id || '/' || n as key, client_id, n from entry where pg_visible_in_snapshot(xid, $1)`,
      [(this.cookie as { snapshot: string }).snapshot],
    );
    expect([...this.keys].sort()).toEqual(rows.map(({ key }) => key).sort());
    expect(this.lastMutationID).toBe(
      Math.max(0, ...rows.filter((row) => row.client_id === this.clientID).map(({ n }) => n)),
    );
  }
}

it(`${groupCount} groups that pull together see exactly the snapshots of their cookies, ${rounds} times`, async () => {
  const { cookie } = await server.pull(null, { clientGroupID: 'first' });
  const groups = Array.from({ length: groupCount }, (_, n) => new Group(n, cookie));
  let isOver = false;
  const writers = [1, 2, 3].map(() => write(() => isOver));
  watched.take();
  let seen = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      await sleep(30);
      const { rows } = await database.pool.query<{ count: number }>('select count(*)::int as count from entry');
      seen = rows[0]!.count;
      const arrivals = groups.map(async (group) => {
        await sleep(Math.random() * 5);
        await group.pull();
      });
      await Promise.all(arrivals);
      for (const group of groups) {
        await group.expectSnapshot();
        expect(group.keys.size).toBeGreaterThanOrEqual(seen);
      }
    }
  } finally {
    isOver = true;
    await Promise.all(writers);
  }
  expect(seen).toBeGreaterThan(rounds);
  expect(watched.take().length).toBeLessThan(groupCount * rounds);
});
