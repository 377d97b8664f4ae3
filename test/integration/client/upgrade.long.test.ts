import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { openClient } from '../../../packages/client/src/create-client.js';
import { optimistic, type TasksOptions, useApplication } from './application.js';
import { bodiesSentTo } from './sent.js';

const application = useApplication({ schemaVersions: ['', '1', '2'] });
const lists = async () =>
  (await application.server.pool.query('select id from list order by id')).rows.map(({ id }) => id);

let complaints: MockInstance;
beforeEach(() => {
  complaints = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => complaints.mockRestore());

/** Leaves unsent mutations behind, like a tab that is closed while it is offline. */
async function leaveUnsent(user: string, options: Partial<TasksOptions>, ...ids: string[]): Promise<void> {
  const { client, engine } = application.open({ user, ...options });
  client.setOnline(false);
  for (const id of ids) await client.mutate.list.create({ id, name: `List ${id}` });
  await engine.persist();
  await client.close();
}

describe('unsent calls of an earlier version of the application', () => {
  it.each<[what: string, before: Partial<TasksOptions>, after: Partial<TasksOptions>]>([
    ['with another schema version', { schemaVersion: '1' }, { schemaVersion: '2' }],
    ['with other mutators', {}, { mutators: { list: optimistic.list } }],
    ['with a function for a mutator that had none', { mutators: {} }, {}],
    ['with other indexes', {}, { indexes: { todo: ['listID'] } }],
  ])('are sent by a version %s', async (_, before, after) => {
    const user = randomUUID();
    await leaveUnsent(user, before, 'a', 'b');
    expect(await lists()).toEqual([]);
    const next = application.client({ user, ...after });
    await expect.poll(() => next.view('list').list()).toHaveLength(2);
    expect(await lists()).toEqual(['a', 'b']);
    await next.mutate.list.create({ id: 'c', name: 'New' });
    await expect.poll(() => next.pending.get()).toEqual([]);
  });

  it('are sent even if the first requests of the next version are refused', async () => {
    const user = randomUUID();
    await leaveUnsent(user, { schemaVersion: '1' }, 'a');
    const next = application.client({ user, schemaVersion: '2', auth: 'expired', getAuth: () => 'Bearer ann' });
    await expect.poll(() => next.view('list').list()).toHaveLength(1);
  });

  it('are not sent again once they are confirmed', async () => {
    const user = randomUUID();
    await leaveUnsent(user, { schemaVersion: '1' }, 'a');
    const { url } = application.server;
    const next = openClient({ user, url, auth: 'Bearer ann', kvStore: 'mem', schemaVersion: '2' });
    await expect.poll(() => next.client.status.get().state).toBe('online');
    expect(await next.engine.recoverMutations()).toBe(true);
    expect(await lists()).toEqual(['a']);
    await next.client.close();
    const fetching = vi.spyOn(globalThis, 'fetch');
    const another = application.client({ user, schemaVersion: '2' });
    await expect.poll(() => another.status.get().state).toBe('online');
    await another.mutate.list.create({ id: 'b', name: 'New' });
    await expect.poll(() => another.pending.get()).toEqual([]);
    const pushed = bodiesSentTo('push', fetching);
    fetching.mockRestore();
    expect(pushed.length).toBeGreaterThan(0);
    expect(pushed.filter((body) => body.includes('"schemaVersion":"1"'))).toEqual([]);
  });
});

it.each<[what: string, next: Partial<TasksOptions>]>([
  ['mutators', { mutators: { list: optimistic.list } }],
  ['indexes', { indexes: { todo: ['listID'] } }],
  ['schema version', { schemaVersion: '1' }],
])('a client is outdated once a version that differs in its %s is opened in another tab', async (_, options) => {
  const user = randomUUID();
  const [first, same] = [application.client({ user }), application.client({ user })];
  for (const { status } of [first, same]) {
    await expect.poll(() => status.get()).toMatchObject({ state: 'online', outdated: false });
  }
  const next = application.client({ user, ...options });
  for (const { status } of [first, same]) {
    await expect.poll(() => status.get()).toMatchObject({ state: 'online', outdated: true });
  }
  await expect.poll(() => next.status.get()).toMatchObject({ state: 'online', outdated: false });
});

it('calls that the server no longer accepts stay unsent, and the client reports them', async () => {
  const user = randomUUID();
  await leaveUnsent(user, { schemaVersion: 'ancient' }, 'a');
  const next = application.client({ user, schemaVersion: '2' });
  await expect.poll(() => next.status.get().state).toBe('online');
  await expect.poll(() => JSON.stringify(complaints.mock.calls)).toMatch(/\\"ancient\\" are still unsent/);
  expect(await lists()).toEqual([]);

  await application.server.stop();
  await application.server.start({ schemaVersions: ['ancient', '2'] });
  await next.close();
  const another = application.client({ user, schemaVersion: '2' });
  await expect.poll(() => another.view('list').list()).toHaveLength(1);
});

it('a client that starts with an old server is outdated only until a new one runs, and loses nothing', async () => {
  await application.server.stop();
  await application.server.start({ schemaVersions: ['1'] });
  const next = application.client({ schemaVersion: '2' });
  await expect.poll(() => next.status.get()).toMatchObject({ state: 'error', outdated: true });
  await next.mutate.list.create({ id: 'a', name: 'New' });
  await expect.poll(() => next.pending.get()).toHaveLength(1);
  expect(await lists()).toEqual([]);

  await application.server.stop();
  await application.server.start({ schemaVersions: ['1', '2'] });
  await expect
    .poll(() => next.status.get())
    .toEqual({ state: 'online', error: null, outdated: false, storage: 'memory', storageError: null, progress: null });
  await expect.poll(() => next.pending.get()).toEqual([]);
  expect(await lists()).toEqual(['a']);
});
