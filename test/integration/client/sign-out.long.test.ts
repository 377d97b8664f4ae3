import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { optimistic, type TasksClient, useApplication } from './application.js';

const application = useApplication();
/** The state of a view after a sign-out. */
const noRows = { rows: [], complete: false };

it('a sign-out closes all tabs of the user, and deletes the user’s data here, even pending calls', async () => {
  const user = randomUUID();
  const [one, two, old] = [
    application.client({ user }),
    application.client({ user }),
    application.client({ user, schemaVersion: '1' }),
  ];
  const otherUser = randomUUID();
  const other = application.client({ user: otherUser });
  await one.mutate.list.create({ id: 'a', name: 'Sent' });
  for (const { view } of [one, two, old, other]) await expect.poll(() => view('list').list()).toHaveLength(1);
  for (const client of [one, two, old]) client.setOnline(false);
  await one.mutate.list.create({ id: 'b', name: 'Unsent' });

  const lists = (tab: TasksClient) => tab.view('list').list();
  await expect.poll(() => application.stored({ user }, lists)).toHaveLength(2);
  await expect.poll(() => application.stored({ user, schemaVersion: '1' }, lists)).toHaveLength(1);
  await expect.poll(() => application.stored({ user: otherUser }, lists)).toHaveLength(1);

  await one.signOut();
  expect(one.status.get()).toMatchObject({ state: 'closed', error: null });
  for (const { status } of [two, old]) {
    await expect.poll(() => status.get()).toMatchObject({ state: 'closed', error: { code: 'signed-out' } });
  }
  expect(other.status.get().state).toBe('online');
  expect(await other.view('list').list()).toHaveLength(1);

  for (const schemaVersion of ['', '1']) {
    expect(await application.stored({ user, schemaVersion }, lists)).toEqual([]);
  }
  expect(await application.stored({ user: otherUser }, lists)).toHaveLength(1);
  const back = application.client({ user });
  await expect.poll(() => back.view('list').list()).toHaveLength(1);
  expect(await back.view('list').get('b')).toBeUndefined();
});

it('a sign-out empties everything that any tab shows, and nothing of it is shown again', async () => {
  const user = randomUUID();
  const tabs = [application.client({ user }), application.client({ user })];
  const [one, two] = tabs as [TasksClient, TasksClient];
  await one.mutate.list.create({ id: 'a', name: 'Garden' });
  await one.mutate.list.create({ id: 'a', name: 'Refused' });
  for (const { view, refused, pending } of tabs) {
    await expect.poll(() => view('list').list()).toHaveLength(1);
    await expect.poll(() => refused.get()).toHaveLength(1);
    await expect.poll(() => pending.get()).toEqual([]);
  }
  const shown = tabs.map((client) => {
    client.setOnline(false);
    const lists = client.view('list');
    const observed = lists.observe();
    const unsubscribed = lists.observe();
    unsubscribed.subscribe(() => {})();
    const [rows, keys, changes] = [vi.fn(), vi.fn(), vi.fn()];
    lists.subscribe(rows);
    client.subscribe(async (tx) => (await tx.view('list').get('a')) ?? null, keys);
    lists.watch(changes);
    observed.subscribe(() => {});
    const unconfirmed = lists.observeUnconfirmed();
    unconfirmed.subscribe(() => {});
    return { client, observed, unsubscribed, rows, keys, changes, unconfirmed };
  });
  await one.mutate.list.create({ id: 'b', name: 'Unsent' });
  await expect.poll(() => shown[0]!.unconfirmed.get().size).toBe(1);
  for (const { observed, changes, keys } of shown) {
    await expect.poll(() => observed.get().rows?.length).toBeGreaterThan(0);
    await vi.waitFor(() => expect(changes).toHaveBeenCalled());
    await vi.waitFor(() => expect(keys).toHaveBeenCalled());
  }

  const signedOut = one.signOut();
  for (const { client, observed, unsubscribed, rows, keys, changes, unconfirmed } of shown) {
    await expect.poll(() => observed.get()).toEqual(noRows);
    expect(unsubscribed.get()).toEqual(noRows);
    expect(rows.mock.lastCall).toEqual([[], false]);
    expect(keys.mock.lastCall).toEqual([null]);
    const seen = () => new Map(changes.mock.calls.flat(2).map(({ key, row }) => [key, row]));
    expect(seen().size).toBeGreaterThan(0);
    await expect.poll(() => [...seen().values()].filter((row) => row !== undefined)).toEqual([]);
    expect([...unconfirmed.get()]).toEqual([]);
    expect(client.pending.get()).toEqual([]);
    expect(client.refused.get()).toEqual([]);
    const later = vi.fn();
    client.view('list').subscribe(later);
    await vi.waitFor(() => expect(later.mock.calls).toEqual([[[], false]]));
  }
  await signedOut;
  expect(two.status.get()).toMatchObject({ state: 'closed', error: { code: 'signed-out' } });
});

it('a sign-out ends even if the page subscribes again when it sees that no rows are left', async () => {
  const client = application.client({ user: randomUUID() });
  const lists = client.view('list');
  await client.mutate.list.create({ id: 'a', name: 'Garden' });
  await expect.poll(() => client.pending.get()).toEqual([]);
  const later = vi.fn();
  const rows = vi.fn(({ length }: readonly unknown[]) => void (length === 0 && lists.subscribe(later)));
  lists.subscribe(rows);
  await vi.waitFor(() => expect(rows).toHaveBeenCalled());
  await client.signOut();
  expect(later.mock.calls).toEqual([[[], false]]);
});

it('a sign-out empties everything shown immediately, even if a mutator never ends', async () => {
  const client = application.client({
    mutators: { list: optimistic.list, todo: { create: () => new Promise(() => {}) } },
  });
  await client.mutate.list.create({ id: 'a', name: 'Garden' });
  await expect.poll(() => client.pending.get()).toEqual([]);
  const lists = client.view('list');
  const [rows, changes, observed] = [vi.fn(), vi.fn(), lists.observe()];
  lists.subscribe(rows);
  lists.watch(changes);
  observed.subscribe(() => {});
  await expect.poll(() => observed.get().rows?.length).toBe(1);
  await vi.waitFor(() => expect(changes).toHaveBeenCalled());
  client.setOnline(false);
  await client.mutate.list.create({ id: 'b', name: 'Unsent' });
  await expect.poll(() => observed.get().rows?.length).toBe(2);
  client.mutate.todo.create({ id: '1', listID: 'a', title: 'Never ends', sort: 1 }).catch(() => {});

  const signedOut = client.signOut();
  expect(client.pending.get()).toEqual([]);
  await expect.poll(() => observed.get(), { timeout: 500 }).toEqual(noRows);
  expect(rows.mock.lastCall).toEqual([[], false]);
  const left = () => new Map(changes.mock.calls.flat(2).map(({ key, row }) => [key, row]));
  await expect
    .poll(() => [...left()], { timeout: 500 })
    .toEqual([
      ['a', undefined],
      ['b', undefined],
    ]);
  await signedOut;
});
