import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { useApplication } from './application.js';
import { bodiesSentTo } from './sent.js';

const application = useApplication();
const sql = (text: string) => application.server.pool.query(text);

describe('a client', () => {
  it('shows the effect of a mutator immediately, and then the result of the server', async () => {
    const client = application.client();
    await client.mutate.list.create({ id: 'l', name: 'Groceries' });
    expect(await client.view('list').get('l')).toEqual({ id: 'l', name: 'Groceries', ownerID: 'me' });
    await expect.poll(() => client.view('list').get('l')).toEqual({ id: 'l', name: 'Groceries', ownerID: 'ann' });
    await expect.poll(() => client.pending.get()).toEqual([]);
    expect(client.status.get()).toEqual({
      state: 'online',
      error: null,
      outdated: false,
      storage: 'memory',
      storageError: null,
      progress: null,
    });
  });

  it('receives changes from elsewhere because of a poke, without periodic pulls', async () => {
    const client = application.client({ pullInterval: null });
    await expect.poll(() => client.status.get().state).toBe('online');
    const pending = client.pending.get();
    await sql("insert into list (id, owner_id, name) values ('a', 'ann', 'Garden')");
    await expect.poll(() => client.view('list').list()).toHaveLength(1);
    expect(client.pending.get()).toBe(pending);
  });

  it('sends calls of mutators that have no function on the client', async () => {
    const [ann, ben] = [application.client(), application.client({ auth: 'Bearer ben' })];
    await ann.mutate.list.create({ id: 'l', name: 'Groceries' });
    await ann.mutate['list.share']({ listID: 'l', userID: 'ben' });
    expect(ann.pending.get().map(({ name, args }) => [name, args])).toContainEqual([
      'list.share',
      { listID: 'l', userID: 'ben' },
    ]);
    await expect.poll(() => ben.view('list').list()).toHaveLength(1);
    expect(await ben.view('share').get(['l', 'ben'])).toEqual({ listID: 'l', userID: 'ben' });
    await expect.poll(() => ann.pending.get()).toEqual([]);
  });

  it('keeps nothing of a call whose function throws', async () => {
    const mutators = {
      'list.create': () => {
        throw new Error('Not here');
      },
    };
    const client = application.client({ mutators });
    await expect(client.mutate.list.create({ id: 'l', name: 'Groceries' })).rejects.toThrow('Not here');
    expect(client.pending.get()).toEqual([]);
  });

  it('has one profile ID in all tabs, in mutators and in pushes', async () => {
    const user = randomUUID();
    const create = vi.fn();
    const [client, tab] = [application.client({ user, mutators: { list: { create } } }), application.client({ user })];
    const profileID = await client.profileID;
    expect(await tab.profileID).toBe(profileID);
    const fetching = vi.spyOn(globalThis, 'fetch');
    await client.mutate.list.create({ id: 'l', name: 'Groceries' });
    expect(create.mock.calls[0]?.[0]).toMatchObject({ profileID });
    await expect.poll(() => client.pending.get()).toEqual([]);
    const pushed = bodiesSentTo('push', fetching);
    fetching.mockRestore();
    expect(pushed.map((body) => JSON.parse(body).profileID)).toEqual([profileID]);
  });

  it('has a `mutate` that is not a promise, and is empty as JSON', async () => {
    const client = application.client();
    expect(await (client.mutate as unknown as Promise<unknown>)).toBe(client.mutate);
    expect(JSON.stringify({ mutate: client.mutate })).toBe('{}');
  });
});

it('mutations are pending until a pull confirms them, and `pending` is the same list until it changes', async () => {
  const client = application.client();
  await expect.poll(() => client.status.get().state).toBe('online');
  client.setOnline(false);
  const listener = vi.fn();
  client.pending.subscribe(listener);
  await client.mutate.list.create({ id: 'a', name: 'A' });
  await client.mutate.list.create({ id: 'b', name: 'B' });
  const pending = client.pending.get();
  expect(pending).toMatchObject([
    { id: 1, clientID: client.clientID, name: 'list.create', args: { id: 'a', name: 'A' } },
    { id: 2, clientID: client.clientID, name: 'list.create', args: { id: 'b', name: 'B' } },
  ]);
  expect(client.pending.get()).toBe(pending);
  client.setOnline(true);
  await expect.poll(() => client.pending.get()).toEqual([]);
  expect(listener).toHaveBeenLastCalledWith([]);
});
