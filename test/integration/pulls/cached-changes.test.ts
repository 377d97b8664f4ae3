/** Pulls that must return something, although the cache shows that their data has not changed. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ChangeLogCache } from '../../../packages/tidemark/src/change-log/change-log-cache.js';
import { CookieCache } from '../../../packages/tidemark/src/change-log/cookie-cache.js';
import { type Cookie, type Secrets, sealCookie } from '../../../packages/tidemark/src/protocol/cookie.js';
import { parseSnapshot } from '../../../packages/tidemark/src/protocol/snapshot.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, PullServer, tableView } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

const views = { item: tableView('item', 'id', 'item/'), note: tableView('note', 'id', 'note/') };

let database: TestDatabase;
let watched: WatchedDatabase;
let server: PullServer;

beforeAll(async () => {
  database = await createSynced(
    'create table item (id int primary key, n int); create table note (id int primary key)',
    views,
  );
});
afterAll(() => database.drop());
beforeEach(async () => {
  await run('delete from item; delete from note; truncate tidemark.client, tidemark.client_group, tidemark.heartbeat');
  await run('insert into item values (1, 0)');
  watched = new WatchedDatabase();
  server = new PullServer(database.url, views, watched.watch);
});
afterEach(() => server.close());

const run = (text: string) => database.pool.query(text);
const pull = (cookie: unknown, clientGroupID = 'g') => server.pull(cookie, { clientGroupID });
const unchanged = (cookie: unknown) => ({ cookie, lastMutationIDChanges: {}, patch: [] });

/** A cookie that the cache covers, of a client group in the cache. */
async function cachedCookie(clientGroupID = 'g'): Promise<Cookie> {
  const first = await pull(null, clientGroupID);
  await pull(first.cookie, clientGroupID);
  await run('update item set n = n + 1');
  const { cookie, patch } = await pull(first.cookie, clientGroupID);
  expect(patch).toHaveLength(1);
  expect(await pull(cookie, clientGroupID)).toEqual(unchanged(cookie));
  watched.take();
  expect(await pull(cookie, clientGroupID)).toEqual(unchanged(cookie));
  expect(watched.take()).toEqual(['poll']);
  return cookie as Cookie;
}

/** Applies a mutation that changes no table. */
const mutate = (clientGroupID: string, id: number) =>
  run(`
    insert into tidemark.client_group values ('${clientGroupID}', 'ada') on conflict do nothing;
    insert into tidemark.client values ('client of ${clientGroupID}', '${clientGroupID}', ${id}, pg_current_xact_id())
    on conflict (id) do update set last_mutation_id = ${id}, xid = pg_current_xact_id()`);

describe('mutations', () => {
  it('are reported to their own client group only', async () => {
    const cookie = await cachedCookie();
    await mutate('another', 1);
    expect(await pull(cookie)).toEqual(unchanged(cookie));
    expect(watched.take()).toEqual(['poll']);
    await mutate('g', 1);
    const answer = await pull(cookie);
    expect(answer).toMatchObject({ lastMutationIDChanges: { 'client of g': 1 }, patch: [] });
    expect(await pull(answer.cookie)).toEqual(unchanged(answer.cookie));
    await mutate('g', 2);
    await run('update item set n = n + 1');
    expect(await pull(answer.cookie)).toMatchObject({
      lastMutationIDChanges: { 'client of g': 2 },
      patch: [{ key: 'item/1' }],
    });
  });

  it('are all reported to a group that sends the cookie of another', async () => {
    const cookie = await cachedCookie();
    await mutate('h', 7);
    expect(await pull(cookie)).toEqual(unchanged(cookie));
    const answer = await pull(cookie, 'h');
    expect(answer).toMatchObject({ lastMutationIDChanges: { 'client of h': 7 }, patch: [] });
    expect((await pull(cookie, 'h')).lastMutationIDChanges).toEqual({ 'client of h': 7 });
  });

  it('are reported although another group has sent the same cookie since', async () => {
    const cookie = await cachedCookie();
    await mutate('g', 3);
    expect(await pull(cookie, 'unknown')).toEqual(unchanged(cookie));
    expect(await pull(cookie)).toMatchObject({ lastMutationIDChanges: { 'client of g': 3 } });
  });
});

it('a delta contains what is committed between the poll and the probe', async () => {
  const cookie = await cachedCookie();
  watched.before = async ({ kind }) => {
    if (kind === 'probe') await run('update item set n = n + 1');
  };
  expect(await pull(cookie, 'another')).toMatchObject({ patch: [{ key: 'item/1' }] });
  expect(watched.take()).toEqual(['poll', 'probe', 'delta']);
});

describe('a change that a poll has found', () => {
  /** A cookie from before a change that the pulls of another group have found. */
  async function outdatedCookie(): Promise<Cookie> {
    const cookie = await cachedCookie();
    await cachedCookie('h');
    return cookie;
  }

  it('is sent without another poll', async () => {
    const cookie = await outdatedCookie();
    const answer = await pull(cookie);
    expect(answer).toMatchObject({ patch: [{ value: { n: 2 } }] });
    expect(watched.take()).toEqual(['delta']);
    expect(await pull(answer.cookie)).toEqual(unchanged(answer.cookie));
  });

  it('is sent together with all later changes', async () => {
    const cookie = await outdatedCookie();
    await mutate('g', 1);
    await run('insert into note values (1); update item set n = 8');
    const answer = await pull(cookie);
    expect(answer.patch).toMatchObject([{ value: { n: 8 } }, { key: 'note/1' }]);
    expect(answer.lastMutationIDChanges).toEqual({ 'client of g': 1 });
    expect(watched.take()).toEqual(['delta', 'delta']);
  });

  it('does not hide a later TRUNCATE', async () => {
    const cookie = await outdatedCookie();
    await run('truncate item');
    expect((await pull(cookie)).patch).toEqual([{ op: 'clear' }]);
  });
});

it('a pull is forbidden once its client group belongs to another user', async () => {
  const cookie = await cachedCookie();
  await mutate('g', 1);
  await run(`update tidemark.client_group set user_id = 'ben'`);
  await expect(pull(cookie)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(pull(cookie)).rejects.toMatchObject({ code: 'forbidden' });
});

it('a client keeps its data when its aging cookie is renewed', async () => {
  const cookie = await cachedCookie();
  await run('select pg_current_xact_id()');
  await run('update tidemark.meta set aging = pg_current_xact_id()');
  const renewed = await pull(cookie);
  expect(renewed).toEqual({ cookie: renewed.cookie, patch: [], lastMutationIDChanges: {} });
  expect(renewed.cookie).not.toEqual(cookie);
  await run('update item set n = n + 1');
  expect((await pull(renewed.cookie)).patch).toHaveLength(1);
  await run('update tidemark.meta set aging = horizon');
});

describe('a cookie', () => {
  const secrets = async (): Promise<Secrets> => [(await run('select secret from tidemark.meta')).rows[0].secret];

  it('resets the client if the database does not know its heartbeat', async () => {
    const { signature: _, ...fields } = await cachedCookie();
    const foreign = sealCookie({ ...fields, heartbeat: '00000000-0000-4000-8000-000000000000' }, await secrets());
    for (const _ of [1, 2]) expect((await pull(foreign)).patch[0]).toEqual({ op: 'clear' });
  });

  it('resets the client if any of its fields has been changed', async () => {
    const cookie = await cachedCookie();
    await run('update item set n = n + 1');
    const changedFields: Record<string, unknown>[] = [
      { order: 1 },
      { snapshot: '900:900:' },
      { next: '99999' },
      { databaseID: 'other' },
      { views: 'other' },
      { clientGroupID: 'h' },
      { mutations: 5 },
      { heartbeat: '00000000-0000-4000-8000-000000000000' },
      { consistencyCheck: '0' },
      { another: 1 },
    ];
    for (const more of changedFields) {
      const { patch } = await pull({ ...cookie, ...more });
      expect(patch[0], JSON.stringify(more)).toEqual({ op: 'clear' });
    }
    expect((await pull(cookie)).patch).toHaveLength(1);
  });

  it('resets the client once its secret has changed', async () => {
    const cookie = await cachedCookie();
    await run(`update tidemark.meta set secret = secret || 'x'`);
    // The server reads the schema again within a second.
    await expect.poll(async () => (await pull(cookie)).patch[0], { timeout: 5_000 }).toEqual({ op: 'clear' });
  });

  it('counts as unchanged only in the cache in which it was marked', async () => {
    const cookie = await cachedCookie();
    const opened = new CookieCache().open(cookie, await secrets())!;
    const noHistory = { timelines: [], current: null, lsn: 0n };
    const database = { recovery: false, serverStart: '', installID: '', database: '', history: noHistory };
    const state = { ...database, heartbeat: null, diverged: false };
    const [snapshot, later] = [opened.cookie.parsedSnapshot, parseSnapshot('99999:99999:')!];
    const newCache = () =>
      new ChangeLogCache(
        {
          ...state,
          snapshot,
          visibleSnapshot: snapshot,
          nextXid: 0n,
          horizon: 0n,
          aging: 0n,
          changeCounts: [],
          truncated: false,
        },
        [],
        10,
      );
    const [one, other] = [newCache(), newCache()];
    expect(opened.baseIn(one)).toBe(snapshot);
    opened.markUnchanged(one, later);
    expect(opened.baseIn(one)).toBe(later);
    expect(opened.baseIn(other)).toBe(snapshot);
  });
});
