/** Changes of rows without a write, and recreated tables: subscribers are poked, and follow the current tables. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Statement } from '../../../packages/tidemark/src/db/database.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { silent } from '../../support/log.js';
import { tableView } from '../../support/synced.js';
import { type TestSubscriber, useNotifiers } from './notifying.js';

const views = {
  event: tableView('event', 'id', 'event/'),
  thing: defineView<Record<string, unknown>>({
    query: ({ ctx }) => ({ text: `select * from thing${ctx.userID === 'other' ? ' where true' : ''}`, values: [] }),
    key: 'id',
  }),
};

const fixture = useNotifiers(
  `create table event (id int primary key) partition by range (id);
   create table event_low partition of event for values from (0) to (100);
   create table event_high partition of event for values from (100) to (200);
   create table event_more (id int primary key);
   create table thing (id int primary key, n int);
   insert into event values (1), (101);
   insert into event_more values (201)`,
  views,
);

const run = (text: string) => fixture.database.pool.query(text);

/** The server checks the schema hash once a second. */
const poked = ({ poke }: TestSubscriber, times = 1) =>
  vi.waitFor(() => expect(poke.mock.calls.length).toBeGreaterThanOrEqual(times), { timeout: 10_000 });

let subscribe: (userID?: string) => Promise<TestSubscriber>;

beforeEach(() => {
  const started = fixture.start();
  subscribe = (userID = 'ann') => started.subscribe(userID);
});

describe('without a row in the change log, subscribers are poked for', () => {
  it.each([
    ['a truncated partition', 'truncate event_low'],
    ['a partition detached with its rows', 'alter table event detach partition event_high'],
    [
      'a partition attached with its rows',
      'alter table event attach partition event_more for values from (200) to (300)',
    ],
    ['a column added with a default', 'alter table thing add column extra int default 7'],
  ])('%s', async (_, change) => {
    const subscriber = await subscribe();
    await run(change);
    await poked(subscriber);
  });
});

/** Expects exactly one poke for a write. */
async function expectFollowed(subscriber: TestSubscriber): Promise<void> {
  await vi.waitFor(
    async () => {
      subscriber.poke.mockClear();
      await run('insert into thing (id) select coalesce(max(id), 0) + 1 from thing');
      await vi.waitFor(() => expect(subscriber.poke).toHaveBeenCalledOnce());
    },
    { timeout: 10_000 },
  );
}

it('a table that is dropped, recreated and migrated is followed again', async () => {
  const subscriber = await subscribe();
  await run('drop table thing');
  await poked(subscriber);
  await run('create table thing (id int primary key, n int)');
  await migrate({ database: fixture.database.url, views, log: silent });
  await poked(subscriber, 2);
  await expectFollowed(subscriber);
});

it('a subscriber is poked for a schema change even if a later one has already seen it', async () => {
  const before = await subscribe();
  await run('alter table thing add column later int');
  const after = await subscribe();
  await poked(before);
  for (const subscriber of [before, after]) await expectFollowed(subscriber);
});

it('a subscriber that subscribes during a schema change is poked, and follows the table', async () => {
  await subscribe();
  let isChanged = false;
  fixture.before = async ({ text }) => {
    // A subscriber with a query of its own has it analyzed first. By then, the catalogs have been read again.
    if (isChanged || !text.includes('pg_aggregate')) return;
    isChanged = true;
    await run('alter table thing add column amid int');
    const isRead = ({ text }: Statement) => text.includes('pg_control_system');
    const before = fixture.sent.filter(isRead).length;
    await vi.waitFor(() => expect(fixture.sent.filter(isRead).length).toBeGreaterThan(before), { timeout: 10_000 });
  };
  const other = await subscribe('other');
  expect(isChanged).toBe(true);
  await poked(other);
  await expectFollowed(other);
});

it('catalogs that cannot be read at first are read again', async () => {
  const subscriber = await subscribe();
  let isRefused = false;
  fixture.before = async ({ text }) => {
    if (!text.includes('to_regclass')) return;
    isRefused = true;
    throw new Error('unreachable');
  };
  await run('alter table thing add column last int');
  await vi.waitFor(() => expect(isRefused).toBe(true), { timeout: 10_000 });
  fixture.before = async () => {};
  await poked(subscriber);
  await expectFollowed(subscriber);
});

it('the catalogs are read once a second while anything is committed, and not without subscribers', async () => {
  const started = performance.now();
  const subscribers = [await subscribe(), await subscribe(), await subscribe()];
  const schemaReads = () => fixture.sent.filter(({ text }) => text.includes('pg_control_system')).length;
  await vi.waitFor(
    async () => {
      await run('select pg_current_xact_id()');
      expect(schemaReads()).toBeGreaterThanOrEqual(4);
    },
    { timeout: 15_000 },
  );
  // There is one more whenever a table is seen for the first time.
  expect(schemaReads()).toBeLessThanOrEqual((performance.now() - started) / 1000 + 3);
  for (const { unsubscribe } of subscribers) unsubscribe();
  const atLast = schemaReads();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(schemaReads()).toBeLessThanOrEqual(atLast + 1);
});
