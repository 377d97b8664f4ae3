import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { useApplication } from './application.js';
import { bodiesSentTo } from './sent.js';

const application = useApplication();
const sql = (text: string) => application.server.pool.query(text);

describe('a client', () => {
  it('shows at once what a mutator does, and then what the server made of it', async () => {
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
    });
  });

  it('is poked when something changes elsewhere, without a pull of its own', async () => {
    const client = application.client({ pullInterval: null });
    await expect.poll(() => client.status.get().state).toBe('online');
    const pending = client.pending.get();
    await sql("insert into list (id, owner_id, name) values ('a', 'ann', 'Garden')");
    await expect.poll(() => client.view('list').list()).toHaveLength(1);
    expect(client.pending.get()).toBe(pending);
  });

  it('sends calls that have no function here under their own names', async () => {
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

  it('has the ID of its browser profile, in all tabs, in mutators and in what it sends', async () => {
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

  it('is nothing to wait for, or to print, in its names', async () => {
    const client = application.client();
    expect(await (client.mutate as unknown as Promise<unknown>)).toBe(client.mutate);
    expect(JSON.stringify({ mutate: client.mutate })).toBe('{}');
  });
});

it('mutations are pending until a pull has confirmed them, and the list is the same until it changes', async () => {
  const client = application.client();
  await expect.poll(() => client.status.get().state).toBe('online');
  client.setOnline(false);
  const seen = vi.fn();
  client.pending.subscribe(seen);
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
  expect(seen).toHaveBeenLastCalledWith([]);
});
