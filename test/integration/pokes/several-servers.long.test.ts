/** Several servers on one database: which subscribers are poked, and how soon. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import type { PokesOptions } from '../../../packages/tidemark/src/sync-options.js';
import type { TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';
import { listenForPokes, type PokeReader } from '../../support/poke-reader.js';
import { createSynced } from '../../support/synced.js';
import { ddl, views } from './notifying.js';

let database: TestDatabase;
const syncs: Sync[] = [];

beforeEach(async () => {
  database = await createSynced(ddl, views);
});

afterEach(async () => {
  await Promise.all(syncs.splice(0).map((sync) => sync.close()));
  await database.drop();
});

const mutators = defineMutators({
  add: defineMutator(({ tx, args }) => tx.query('insert into item (owner_id) values ($1)', [args])),
  refuse: defineMutator(async () => {
    throw new Error('never');
  }),
});

interface Server {
  push(user: string, clientGroupID: string, name: string): Promise<void>;
  listen(user: string, clientGroupID?: string): Promise<PokeReader>;
}

/** A server that, by default, polls for changes only once a minute. */
async function start(pokes: PokesOptions = {}): Promise<Server> {
  const { log } = memoryLog();
  const authenticate = (request: Request) => ({
    userID: request.headers.get('Authorization')!.slice('Bearer '.length),
  });
  const sync = await createSync({
    database: database.url,
    views,
    mutators,
    authenticate,
    log,
    pokes: { intervalMs: 60_000, ...pokes },
  });
  syncs.push(sync);
  const send = (path: string, init: RequestInit) => sync.fetch(new Request(`http://localhost${path}`, init));
  return {
    async push(user, clientGroupID, name) {
      const mutations = [{ clientID: randomUUID(), id: 1, name, args: user, timestamp: 0 }];
      const body = { pushVersion: 1, clientGroupID, profileID: 'p', schemaVersion: '', mutations };
      const headers = { Authorization: `Bearer ${user}`, 'Content-Type': 'application/json' };
      const response = await send('/sync/push', { method: 'POST', headers, body: JSON.stringify(body) });
      expect([response.status, await response.text()]).toEqual([200, '{}']);
    },
    async listen(user, clientGroupID = `group of ${user}`) {
      const reader = await listenForPokes(send, { user, clientGroupID });
      await reader.poked(1);
      return reader;
    },
  };
}

const write = (owner: string) => database.pool.query('insert into item (owner_id) values ($1)', [owner]);

const notifies = async () => {
  const { rowCount } = await database.pool.query(
    `select from pg_trigger where tgname = 'tidemark_notify' and tgrelid = 'tidemark.change'::regclass`,
  );
  return rowCount === 1;
};

async function migrateAgain(notify: boolean): Promise<string[]> {
  const messages: string[] = [];
  await migrate({
    database: database.url,
    views,
    pokes: { notify },
    log: { ...silent, info: (_, message) => void messages.push(message) },
  });
  return messages;
}

/** Waits until the server has a connection for notifications. */
const isListening = () =>
  vi.waitFor(async () => {
    const { rowCount } = await database.pool.query(
      `select from pg_stat_activity where datname = current_database() and state = 'idle' and query = 'listen tidemark'`,
    );
    expect(rowCount).toBe(1);
  });

describe('a push', () => {
  it('pokes immediately on the server that applied it, however rarely that polls', async () => {
    const server = await start();
    const [ann, tab, ben] = [await server.listen('ann'), await server.listen('ann', 'tab'), await server.listen('ben')];
    for (let i = 2; i < 6; i++) {
      const started = performance.now();
      await server.push('ann', 'group of ann', 'add');
      await Promise.all([ann.poked(i), tab.poked(i)]);
      expect(performance.now() - started).toBeLessThan(2_000);
    }
    expect([ann.pokes(), tab.pokes(), ben.pokes()]).toEqual([5, 5, 1]);
  });

  it('pokes on other servers when they poll', async () => {
    const [one, other] = [await start(), await start({ intervalMs: 20 })];
    const [ann, ben] = [await other.listen('ann'), await other.listen('ben')];
    await one.push('ann', 'group of ann', 'add');
    await ann.poked(2);
    await one.push('ben', 'group of ben', 'add');
    await ben.poked(2);
    expect([ann.pokes(), ben.pokes()]).toEqual([2, 2]);
  });

  it('pokes only its own client group, on every server, if its mutation is refused', async () => {
    const [one, other] = [await start(), await start({ intervalMs: 20 })];
    const pushing = [await one.listen('ann'), await other.listen('ann')];
    const idle = [await one.listen('ann', 'tab'), await other.listen('ann', 'tab'), await other.listen('ben')];
    await one.push('ann', 'group of ann', 'refuse');
    await Promise.all(pushing.map((reader) => reader.poked(2)));
    // Next, a change that affects them. An earlier poke would raise their count to three.
    await one.push('ann', 'group of ann', 'add');
    await Promise.all(idle.slice(0, 2).map((reader) => reader.poked(2)));
    expect(pushing.map((reader) => reader.pokes())).toEqual([3, 3]);
    expect(idle.map((reader) => reader.pokes())).toEqual([2, 2, 1]);
  });

  it('does not poke another user who subscribes with the ID of the group', async () => {
    const server = await start();
    const [ann, spy] = [await server.listen('ann'), await server.listen('ben', 'group of ann')];
    await server.push('ann', 'group of ann', 'refuse');
    await ann.poked(2);
    await server.push('ben', 'group of ben', 'add');
    await spy.poked(2);
    expect([ann.pokes(), spy.pokes()]).toEqual([2, 2]);
  });
});

describe('notifications', () => {
  it('are added and removed by migrate, which logs each change', async () => {
    expect(await notifies()).toBe(false);
    expect(await migrateAgain(true)).toContain('adding notifications');
    expect(await notifies()).toBe(true);
    expect(await migrateAgain(true)).not.toContain('adding notifications');
    expect(await migrateAgain(false)).toContain('removing notifications');
    expect(await notifies()).toBe(false);
    expect(await migrateAgain(false)).toEqual([]);
  });

  it('make any commit poke immediately, on every server and from any session', async () => {
    await migrateAgain(true);
    const server = await start({ notify: true });
    const reader = await server.listen('ann');
    await isListening();
    const count = reader.pokes();
    await write('ann');
    await reader.poked(count + 1);
    await database.pool.query(`
      begin;
      set local session_replication_role = replica;
      insert into item (owner_id) values ('ann');
      commit`);
    await reader.poked(count + 2);
    const other = await start();
    await other.push('ann', 'group of ann', 'refuse');
    await reader.poked(count + 3);
  });

  it('are replaced by polls if they do not arrive', async () => {
    const server = await start({ notify: true, intervalMs: 50 });
    const reader = await server.listen('ann');
    await isListening();
    const count = reader.pokes();
    await write('ann');
    await reader.poked(count + 1);
  });
});
