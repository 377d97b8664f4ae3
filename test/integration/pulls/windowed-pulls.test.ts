/** What a pull must be told though the window says that its data has not changed. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Cookie, type Secrets, sealCookie } from '../../../src/protocol/cookie.js';
import { parseSnapshot } from '../../../src/protocol/snapshot.js';
import { KnownCookies } from '../../../src/window/known-cookies.js';
import { Window } from '../../../src/window/window.js';
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
  await run('delete from item; delete from note; truncate tidemark.client, tidemark.client_group, tidemark.tick');
  await run('insert into item values (1, 0)');
  watched = new WatchedDatabase();
  server = new PullServer(database.url, views, watched.watch);
});
afterEach(() => server.close());

const run = (text: string) => database.pool.query(text);
const pull = (cookie: unknown, clientGroupID = 'g') => server.pull(cookie, { clientGroupID });
const unchanged = (cookie: unknown) => ({ cookie, lastMutationIDChanges: {}, patch: [] });

/** A cookie that the window reaches, of a client group that it knows. */
async function known(clientGroupID = 'g'): Promise<Cookie> {
  const first = await pull(null, clientGroupID);
  await pull(first.cookie, clientGroupID);
  await run('update item set n = n + 1');
  const { cookie, patch } = await pull(first.cookie, clientGroupID);
  expect(patch).toHaveLength(1);
  expect(await pull(cookie, clientGroupID)).toEqual(unchanged(cookie));
  watched.take();
  expect(await pull(cookie, clientGroupID)).toEqual(unchanged(cookie));
  expect(watched.take()).toEqual(['look']);
  return cookie as Cookie;
}

/** Applies a mutation that changes no table. */
const mutate = (clientGroupID: string, id: number) =>
  run(`
    insert into tidemark.client_group values ('${clientGroupID}', 'ada') on conflict do nothing;
    insert into tidemark.client values ('client of ${clientGroupID}', '${clientGroupID}', ${id}, pg_current_xact_id())
    on conflict (id) do update set last_mutation_id = ${id}, xid = pg_current_xact_id()`);

describe('mutations', () => {
  it('of its own group are told, and of no other', async () => {
    const cookie = await known();
    await mutate('another', 1);
    expect(await pull(cookie)).toEqual(unchanged(cookie));
    expect(watched.take()).toEqual(['look']);
    await mutate('g', 1);
    const told = await pull(cookie);
    expect(told).toMatchObject({ lastMutationIDChanges: { 'client of g': 1 }, patch: [] });
    expect(await pull(told.cookie)).toEqual(unchanged(told.cookie));
    await mutate('g', 2);
    await run('update item set n = n + 1');
    expect(await pull(told.cookie)).toMatchObject({
      lastMutationIDChanges: { 'client of g': 2 },
      patch: [{ key: 'item/1' }],
    });
  });

  it('of a group that sends the cookie of another are all told', async () => {
    const cookie = await known();
    await mutate('h', 7);
    expect(await pull(cookie)).toEqual(unchanged(cookie));
    const told = await pull(cookie, 'h');
    expect(told).toMatchObject({ lastMutationIDChanges: { 'client of h': 7 }, patch: [] });
    expect((await pull(cookie, 'h')).lastMutationIDChanges).toEqual({ 'client of h': 7 });
  });

  it('are told though another group has sent the same cookie since', async () => {
    const cookie = await known();
    await mutate('g', 3);
    expect(await pull(cookie, 'unknown')).toEqual(unchanged(cookie));
    expect(await pull(cookie)).toMatchObject({ lastMutationIDChanges: { 'client of g': 3 } });
  });
});

it('what is committed between a look and a probe is in the delta', async () => {
  const cookie = await known();
  watched.before = async ({ kind }) => {
    if (kind === 'probe') await run('update item set n = n + 1');
  };
  expect(await pull(cookie, 'another')).toMatchObject({ patch: [{ key: 'item/1' }] });
  expect(watched.take()).toEqual(['look', 'probe', 'delta']);
});

describe('a change that a look has found', () => {
  /** A cookie from before a change, which the pulls of another group have found. */
  async function outdated(): Promise<Cookie> {
    const cookie = await known();
    await known('h');
    return cookie;
  }

  it('is sent without another look', async () => {
    const cookie = await outdated();
    const answer = await pull(cookie);
    expect(answer).toMatchObject({ patch: [{ value: { n: 2 } }] });
    expect(watched.take()).toEqual(['delta']);
    expect(await pull(answer.cookie)).toEqual(unchanged(answer.cookie));
  });

  it('comes with all that has changed by then', async () => {
    const cookie = await outdated();
    await mutate('g', 1);
    await run('insert into note values (1); update item set n = 8');
    const answer = await pull(cookie);
    expect(answer.patch).toMatchObject([{ value: { n: 8 } }, { key: 'note/1' }]);
    expect(answer.lastMutationIDChanges).toEqual({ 'client of g': 1 });
    expect(watched.take()).toEqual(['delta', 'delta']);
  });

  it('does not hide that the tables were truncated since', async () => {
    const cookie = await outdated();
    await run('truncate item');
    expect((await pull(cookie)).patch).toEqual([{ op: 'clear' }]);
  });
});

it('another owner of the group is told to whoever is not', async () => {
  const cookie = await known();
  await mutate('g', 1);
  await run(`update tidemark.client_group set user_id = 'ben'`);
  await expect(pull(cookie)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(pull(cookie)).rejects.toMatchObject({ code: 'forbidden' });
});

it('a client group that is renewed as its cookie ages keeps what it has', async () => {
  const cookie = await known();
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

  it('with a tick that the database does not know is of another history', async () => {
    const { signature: _, ...fields } = await known();
    const foreign = sealCookie({ ...fields, tick: '00000000-0000-4000-8000-000000000000' }, await secrets());
    for (const _ of [1, 2]) expect((await pull(foreign)).patch[0]).toEqual({ op: 'clear' });
  });

  it('that is known is refused with any other field', async () => {
    const cookie = await known();
    await run('update item set n = n + 1');
    const altered: Record<string, unknown>[] = [
      { order: 1 },
      { snapshot: '900:900:' },
      { next: '99999' },
      { epoch: 'other' },
      { views: 'other' },
      { clientGroupID: 'h' },
      { mutations: 5 },
      { tick: '00000000-0000-4000-8000-000000000000' },
      { audit: '0' },
      { another: 1 },
    ];
    for (const more of altered) {
      const { patch } = await pull({ ...cookie, ...more });
      expect(patch[0], JSON.stringify(more)).toEqual({ op: 'clear' });
    }
    expect((await pull(cookie)).patch).toHaveLength(1);
  });

  it('does not outlive its secret', async () => {
    const cookie = await known();
    await run(`update tidemark.meta set secret = secret || 'x'`);
    // The installation is read again within a second.
    await expect.poll(async () => (await pull(cookie)).patch[0], { timeout: 5_000 }).toEqual({ op: 'clear' });
  });

  it('is quiet in the window in which it was found to be, and in no other', async () => {
    const cookie = await known();
    const opened = new KnownCookies().open(cookie, await secrets())!;
    const noHistory = { timelines: [], current: null, lsn: 0n };
    const database = { recovery: false, started: '', installID: '', database: '', history: noHistory };
    const header = { ...database, tick: null, diverged: false };
    const [snapshot, later] = [opened.cookie.parsedSnapshot, parseSnapshot('99999:99999:')!];
    const window = () =>
      new Window(
        { ...header, snapshot, shown: snapshot, next: 0n, horizon: 0n, aging: 0n, changed: [], truncated: false },
        [],
        10,
      );
    const [one, other] = [window(), window()];
    expect(opened.baseIn(one)).toBe(snapshot);
    opened.remainsQuiet(one, later);
    expect(opened.baseIn(one)).toBe(later);
    expect(opened.baseIn(other)).toBe(snapshot);
  });
});
