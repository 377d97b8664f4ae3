/** Stores that cannot be opened, that are full, or that stop working. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import type { Status } from '../../../packages/client/src/index.js';
import { type TasksClient, useApplication } from './application.js';
import { type Behaviour, type HostileStores, hostileStores } from './hostile-stores.js';

vi.spyOn(console, 'error').mockImplementation(() => {});

const application = useApplication();

/** A client of Ann's that waits only briefly for operations of its store, and up to `maxOpenMs` for its opening. */
function open(
  kvStore: HostileStores,
  user: string = randomUUID(),
  maxOpenMs = 20_000,
  auth = 'Bearer ann',
): TasksClient {
  return application.open({ user, auth, kvStore }, { stores: { maxOpenMs, maxOperationMs: 1000 } }).client;
}

const storage = (client: TasksClient) => client.status.get().storage;
const create = (client: TasksClient, id: string) => client.mutate.list.create({ id, name: id });
/** Returns the first status that satisfies the predicate. */
async function until(client: TasksClient, isSo: (status: Status) => boolean): Promise<Status> {
  await expect.poll(() => isSo(client.status.get()), { timeout: 8000 }).toBe(true);
  return client.status.get();
}
const listIDs = async (client: TasksClient) => (await client.view('list').list()).map(({ id }) => id);

describe.each<Behaviour>(['refuses access', 'hangs', 'is full', 'cannot be read'])(
  'a store that %s when it is opened',
  (how) => {
    it('is replaced by memory, and the status says so', async () => {
      const ann = open(hostileStores(how), randomUUID(), 500);
      await create(ann, 'a');
      expect(await listIDs(ann)).toEqual(['a']);
      expect(ann.status.get()).toMatchObject({
        storage: 'memory',
        storageError: { code: 'storage-unavailable', message: /What to do/ },
      });
      await expect.poll(() => ann.status.get().state).toBe('online');
      await expect.poll(() => ann.pending.get()).toEqual([]);
      await ann.pull();
      await ann.signOut().catch(() => {});
      expect(ann.status.get().state).toBe('closed');
    });
  },
);

/**
 * Checks the failure of a store after each number of operations of a start: they test the store, read the list of
 * databases and the client's record, and do the first reads and writes. All run side by side, because they mostly wait,
 * in profiles of their own.
 */
async function afterAnyNumber(check: (n: number) => Promise<void>): Promise<void> {
  const checks = await Promise.allSettled(Array.from({ length: 13 }, (_, n) => check(n)));
  checks.forEach((outcome, n) => {
    if (outcome.status === 'rejected') throw new Error(`after ${n} operations`, { cause: outcome.reason });
  });
}

describe.each<Behaviour>(['refuses access', 'hangs', 'is full', 'cannot be read'])(
  'a store that %s during the start',
  (how) => {
    it('after any number of operations is reported if it loses anything, and the client recovers', () =>
      afterAnyNumber(async (n) => {
        const stores = hostileStores('works', randomUUID());
        let operations = 0;
        stores.onOperation = () => {
          if (operations++ === n) stores.behaviour = how;
        };
        const [first, second] = [`a${n}`, `b${n}`];
        const ann = open(stores, randomUUID(), 300, `Bearer ann${n}`);
        const names = vi.fn();
        ann.subscribe((tx) => tx.view('list').list(), names);
        const changes = vi.fn();
        ann.view('list').watch(changes);
        const isKept = await create(ann, first).then(
          () => true,
          () => false,
        );
        const { storage: where, state } = await until(
          ann,
          ({ storage, state }) => storage !== 'saved' || state === 'error',
        );
        expect(isKept || where === 'failing' || state === 'error').toBe(true);
        stores.behaviour = 'works';
        await until(ann, (status) => status.state === 'online' && status.storage !== 'failing');
        expect((await listIDs(ann)).includes(first)).toBe(isKept);
        await create(ann, second);
        await expect
          .poll(() => names.mock.lastCall?.[0], { timeout: 5000 })
          .toContainEqual(expect.objectContaining({ id: second }));
        await expect
          .poll(() => changes.mock.calls.flat(2), { timeout: 5000 })
          .toContainEqual(expect.objectContaining({ key: second }));
        await expect.poll(() => ann.pending.get(), { timeout: 5000 }).toEqual([]);
        await ann.close();
      }));
  },
);

describe.each(['close', 'signOut'] as const)('%s during the start', (end) => {
  describe.each<Behaviour>(['works', 'refuses access', 'hangs', 'is full', 'cannot be read'])(
    'of a client whose store %s',
    (how) => {
      it('settles after any number of operations, and the user’s next client starts', () =>
        afterAnyNumber(async (n) => {
          const user = randomUUID();
          const stores = hostileStores('works', user);
          const ann = await new Promise<TasksClient>((resolve) => {
            let operations = 0;
            let isEnding = false;
            const endOnce = () => {
              if (isEnding) return;
              isEnding = true;
              stores.behaviour = how;
              const settled = () => resolve(client);
              client[end]().then(settled, settled);
            };
            stores.onOperation = () => {
              if (operations++ === n) endOnce();
            };
            const client = open(stores, user, 300);
            // A start that fails early performs fewer operations.
            setTimeout(endOnce, 1500);
          });
          expect(ann.status.get().state).toBe('closed');
          stores.behaviour = 'works';
          stores.onOperation = () => {};
          await until(open(stores, user), ({ state }) => state === 'online');
        }));
    },
  );

  it('settles in the task that creates the client, and the user’s next client starts', async () => {
    const user = randomUUID();
    const stores = hostileStores();
    await open(stores, user)[end]();
    await until(open(stores, user), ({ state }) => state === 'online');
  });
});

/** A client with 2,000 lists whose store can no longer be read. It has read a few leaves of their tree. */
async function unreadable(
  how: Behaviour = 'cannot be read',
): Promise<{ readonly ann: TasksClient; readonly stores: HostileStores }> {
  const user = randomUUID();
  const before = open(hostileStores(), user);
  await application.server.pool.query(
    `insert into list (id, owner_id, name) select n, 'ann', 'List ' || n from generate_series(1000, 2999) n`,
  );
  await before.pull();
  await expect.poll(() => listIDs(before)).toHaveLength(2000);
  await until(before, ({ storage }) => storage === 'saved');
  await before.close();
  const stores = hostileStores();
  const ann = open(stores, user);
  ann.setOnline(false);
  await ann.profileID;
  await ann.query(async () => {});
  stores.behaviour = how;
  return { ann, stores };
}

it('the status is an error while a pull cannot be applied because the store cannot be read', async () => {
  const { ann, stores } = await unreadable();
  await application.server.pool.query(`update list set name = 'Changed' where id in ('1500', '2500')`);
  ann.setOnline(true);
  const { error } = await until(ann, ({ state }) => state === 'error');
  expect(error).toMatchObject({ code: 'not-applied', message: /What to do/ });
  stores.behaviour = 'works';
  await until(ann, ({ state, error }) => state === 'online' && error === null);
  expect(await ann.view('list').get('2500')).toMatchObject({ name: 'Changed' });
});

it('a store that aborts its transactions causes no unhandled rejection', async () => {
  const { ann, stores } = await unreadable('aborts reads');
  await expect(listIDs(ann)).rejects.toThrow('Broken off');
  stores.behaviour = 'works';
  expect(await listIDs(ann)).toHaveLength(2000);
  await ann.close();
});

it('rows that cannot be read for a listener are read again, and the first failure is logged', async () => {
  const { ann, stores } = await unreadable();
  const names = vi.fn();
  ann.subscribe((tx) => tx.view('list').list(), names);
  const changes = vi.fn();
  ann.view('list').watch(changes);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(names).not.toHaveBeenCalled();
  expect(changes).not.toHaveBeenCalled();
  expect(console.error).toHaveBeenCalledWith(expect.stringContaining('A subscription failed'), expect.anything());
  stores.behaviour = 'works';
  await expect.poll(() => names.mock.calls.map(([lists]) => lists.length), { timeout: 5000 }).toEqual([2000]);
  await expect.poll(() => changes.mock.calls.map(([rows]) => rows.length), { timeout: 5000 }).toEqual([2000]);
});

it('the status is saving until a call is stored', async () => {
  const ann = open(hostileStores());
  await expect.poll(() => storage(ann)).toBe('saved');
  await create(ann, 'a');
  expect(ann.status.get()).toMatchObject({ storage: 'saving', storageError: null });
  await expect.poll(() => storage(ann), { timeout: 3000 }).toBe('saved');
});

describe.each<[Behaviour, code: string]>([
  ['is full', 'storage-full'],
  ['hangs', 'storage-failed'],
  ['refuses access', 'storage-failed'],
  ['loses its data', 'storage-lost'],
])('a store that later %s', (how, code) => {
  it('is not reported as saved from the first call on, and stores everything once it works again', async () => {
    const stores = hostileStores();
    const user = randomUUID();
    const ann = open(stores, user);
    await expect.poll(() => ann.status.get()).toMatchObject({ state: 'online', storage: 'saved' });
    ann.setOnline(false);
    stores.behaviour = how;
    for (let i = 0; i < 20; i++) {
      await create(ann, `${10 + i}`);
      expect(storage(ann)).not.toBe('saved');
    }
    await expect
      .poll(() => ann.status.get(), { timeout: 5000 })
      .toMatchObject({
        storage: 'failing',
        storageError: { code, message: /What to do/ },
      });
    expect(ann.pending.get()).toHaveLength(20);

    stores.behaviour = 'works';
    await expect
      .poll(() => ann.status.get(), { timeout: 15_000 })
      .toMatchObject({ storage: 'saved', storageError: null });
    await create(ann, '30');
    await expect.poll(() => storage(ann), { timeout: 5000 }).toBe('saved');
    // As if the page were reloaded: nothing is written at the end.
    stores.behaviour = 'is full';
    const next = open(hostileStores(), user);
    next.setOnline(false);
    // A client of the previous test may have sent its list late, so that this client has pulled it.
    const made = (await listIDs(next)).filter((id) => id !== 'a');
    expect(made).toEqual(Array.from({ length: 21 }, (_, i) => `${10 + i}`));
    stores.behaviour = 'works';
  });
});

it('a client closes after about five seconds if its store hangs', async () => {
  const stores = hostileStores();
  const ann = application.client({ kvStore: stores });
  await expect.poll(() => storage(ann)).toBe('saved');
  await create(ann, 'a');
  stores.behaviour = 'hangs';
  const start = performance.now();
  await ann.close();
  const duration = performance.now() - start;
  expect(duration).toBeGreaterThan(4500);
  expect(duration).toBeLessThan(8000);
  expect(ann.status.get().state).toBe('closed');
  stores.behaviour = 'works';
});

it.each<Behaviour>(['hangs', 'refuses access'])(
  'a client whose store %s closes when it signs out, and the user’s next client starts',
  async (how) => {
    const stores = hostileStores();
    const user = randomUUID();
    const ann = open(stores, user);
    const tab = open(stores, user);
    await until(ann, ({ storage }) => storage === 'saved');
    await until(tab, ({ storage, state }) => storage === 'saved' && state === 'online');
    await create(ann, 'a');
    stores.behaviour = how;
    // The other tab closes too, and nothing could catch an error of its store.
    await expect(ann.signOut()).rejects.toMatchObject({ code: 'data-not-deleted' });
    expect(ann.status.get().state).toBe('closed');
    await until(tab, ({ state }) => state === 'closed');
    stores.behaviour = 'works';
    await until(open(stores, user), ({ state }) => state === 'online');
  },
);

it('an unreadable store causes no unhandled rejection when another version of the application opens', async () => {
  const stores = hostileStores();
  const user = randomUUID();
  const { client, engine } = application.open({ user, kvStore: stores });
  await expect.poll(() => client.status.get()).toMatchObject({ state: 'online', storage: 'saved' });
  stores.behaviour = 'cannot be read';
  const channel = new BroadcastChannel(`replicache-new-client-group-v1:${engine.name}`);
  const announced = new Promise((resolve) => {
    channel.onmessage = resolve;
  });
  application.client({ user, kvStore: hostileStores(), mutators: {} });
  await announced;
  channel.close();
  // The engine learns of it in this turn of the event loop or the next. Vitest fails a run with an uncaught error.
  await new Promise((resolve) => setTimeout(resolve, 50));
  stores.behaviour = 'works';
  expect(client.status.get().outdated).toBe(false);
});

it('a client whose record is deleted reports that its calls are not stored, and sends them', async () => {
  const stores = hostileStores();
  const { client: ann, engine } = application.open({ kvStore: stores });
  await until(ann, ({ state, storage }) => state === 'online' && storage === 'saved');
  const write = await stores.create(engine.idbName).write();
  await write.del('h/clients');
  await write.commit();
  write.release();
  await create(ann, 'a');
  const { error, storageError } = await until(ann, ({ state, storage }) => state === 'error' && storage === 'failing');
  expect([error?.code, storageError?.code]).toEqual(['client-state-not-found', 'storage-failed']);
  const names = () => application.server.pool.query('select name from list');
  await expect.poll(async () => (await names()).rows).toEqual([{ name: 'a' }]);
});
