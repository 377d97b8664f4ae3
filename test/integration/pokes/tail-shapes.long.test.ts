/**
 * What changes rows without a write, and tables that are made anew: listeners are told, and follow the tables as they
 * are.
 */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Statement } from '../../../src/db/database.js';
import { migrate } from '../../../src/migrate.js';
import { defineView } from '../../../src/view/define.js';
import { silent } from '../../support/log.js';
import { tableView } from '../../support/synced.js';
import { type Listening, useTailed } from './tailed.js';

const views = {
  event: tableView('event', 'id', 'event/'),
  thing: defineView<Record<string, unknown>>({
    query: ({ ctx }) => ({ text: `select * from thing${ctx.userID === 'other' ? ' where true' : ''}`, values: [] }),
    key: 'id',
  }),
};

const tailed = useTailed(
  `create table event (id int primary key) partition by range (id);
   create table event_low partition of event for values from (0) to (100);
   create table event_high partition of event for values from (100) to (200);
   create table event_more (id int primary key);
   create table thing (id int primary key, n int);
   insert into event values (1), (101);
   insert into event_more values (201)`,
  views,
);

const run = (text: string) => tailed.database.pool.query(text);

/** The shape is looked at once a second. */
const poked = ({ poke }: Listening, times = 1) =>
  vi.waitFor(() => expect(poke.mock.calls.length).toBeGreaterThanOrEqual(times), { timeout: 10_000 });

let listen: (userID?: string) => Promise<Listening>;

beforeEach(() => {
  const tail = tailed.start();
  listen = (userID = 'ann') => tail.listen(userID);
});

describe('without a row in the change log, listeners are poked about', () => {
  it.each([
    ['a partition truncated by itself', 'truncate event_low'],
    ['a partition detached with its rows', 'alter table event detach partition event_high'],
    [
      'a partition attached with its rows',
      'alter table event attach partition event_more for values from (200) to (300)',
    ],
    ['a column added with a default', 'alter table thing add column extra int default 7'],
  ])('%s', async (_, change) => {
    const listener = await listen();
    await run(change);
    await poked(listener);
  });
});

/** Exactly one poke for a write. */
async function expectFollowed(listener: Listening): Promise<void> {
  await vi.waitFor(
    async () => {
      listener.poke.mockClear();
      await run('insert into thing (id) select coalesce(max(id), 0) + 1 from thing');
      await vi.waitFor(() => expect(listener.poke).toHaveBeenCalledOnce());
    },
    { timeout: 10_000 },
  );
}

it('a table that is dropped, made anew and migrated is followed again', async () => {
  const listener = await listen();
  await run('drop table thing');
  await poked(listener);
  await run('create table thing (id int primary key, n int)');
  await migrate({ database: tailed.database.url, views, log: silent });
  await poked(listener, 2);
  await expectFollowed(listener);
});

it('whoever listened before another one came after a change of the shape is told of it, and follows', async () => {
  const before = await listen();
  await run('alter table thing add column later int');
  const after = await listen();
  await poked(before);
  for (const listener of [before, after]) await expectFollowed(listener);
});

it('whoever begins to listen while the shape changes is told of it, and follows', async () => {
  await listen();
  let isChanged = false;
  tailed.before = async ({ text }) => {
    // Who has a query of their own has it analyzed first; meanwhile the catalogs have been read anew.
    if (isChanged || !text.includes('pg_aggregate')) return;
    isChanged = true;
    await run('alter table thing add column amid int');
    const isRead = ({ text }: Statement) => text.includes('pg_control_system');
    const before = tailed.sent.filter(isRead).length;
    await vi.waitFor(() => expect(tailed.sent.filter(isRead).length).toBeGreaterThan(before), { timeout: 10_000 });
  };
  const other = await listen('other');
  expect(isChanged).toBe(true);
  await poked(other);
  await expectFollowed(other);
});

it('catalogs that cannot be read at first are read again', async () => {
  const listener = await listen();
  let isRefused = false;
  tailed.before = async ({ text }) => {
    if (!text.includes('to_regclass')) return;
    isRefused = true;
    throw new Error('unreachable');
  };
  await run('alter table thing add column last int');
  await vi.waitFor(() => expect(isRefused).toBe(true), { timeout: 10_000 });
  tailed.before = async () => {};
  await poked(listener);
  await expectFollowed(listener);
});

it('the catalogs are read once a second while anything is committed, and by nobody when nobody listens', async () => {
  const started = performance.now();
  const listeners = [await listen(), await listen(), await listen()];
  const readings = () => tailed.sent.filter(({ text }) => text.includes('pg_control_system')).length;
  await vi.waitFor(
    async () => {
      await run('select pg_current_xact_id()');
      expect(readings()).toBeGreaterThanOrEqual(4);
    },
    { timeout: 15_000 },
  );
  // And one more whenever a table is seen for the first time.
  expect(readings()).toBeLessThanOrEqual((performance.now() - started) / 1000 + 3);
  for (const { leave } of listeners) leave();
  const atLast = readings();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(readings()).toBeLessThanOrEqual(atLast + 1);
});
