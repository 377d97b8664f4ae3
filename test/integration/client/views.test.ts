import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Todo } from '../../support/whole-views.js';
import { type TasksClient, useApplication } from './application.js';

const application = useApplication();
let client: TasksClient;

beforeEach(async () => {
  await application.server.pool.query(`
    insert into list (id, owner_id, name) values ('a', 'ann', 'Garden'), ('ab', 'ann', 'Shopping');
    insert into todo (id, list_id, title, sort) values ('1', 'ab', 'Milk', 1), ('2', 'a', 'Roses', 2), ('21', 'a', 'Oats', 3)`);
  client = application.client({ indexes: { todo: ['listID', 'title'] } });
  await expect.poll(() => client.view('todo').list()).toHaveLength(3);
});

const ids = (todos: readonly Todo[]) => todos.map(({ id }) => id);

describe('a view lists', () => {
  it('its rows by key: all, those after a key, a limited number, or those with a prefix', async () => {
    const todos = client.view('todo');
    expect(ids(await todos.list())).toEqual(['1', '2', '21']);
    expect(ids(await todos.list({ after: '1' }))).toEqual(['2', '21']);
    expect(ids(await todos.list({ after: '1', limit: 1 }))).toEqual(['2']);
    expect(ids(await todos.list({ prefix: '2' }))).toEqual(['2', '21']);
    expect(await todos.get('21')).toEqual({ id: '21', listID: 'a', title: 'Oats', done: false, sort: 3 });
    expect(await todos.get('3')).toBeUndefined();
  });

  it('its rows by an indexed field: in its order, with an equal value, or with a prefix', async () => {
    const todos = client.view('todo');
    expect(ids(await todos.list({ by: 'title' }))).toEqual(['1', '21', '2']);
    expect(ids(await todos.list({ by: 'listID', equals: 'a' }))).toEqual(['2', '21']);
    expect(ids(await todos.list({ by: 'listID', prefix: 'a' }))).toEqual(['2', '21', '1']);
    expect(ids(await todos.list({ by: 'listID', equals: 'a', limit: 1 }))).toEqual(['2']);
  });

  it('rows that were stored before the index existed', async () => {
    const user = randomUUID();
    const before = application.client({ user });
    await expect.poll(() => before.view('todo').list()).toHaveLength(3);
    await before.close();
    const byNumber = (tab: TasksClient) =>
      tab.view('todo').list({ by: ['listID', 'sort'], equals: 'a', descending: true });
    expect(ids(await application.stored({ user, indexes: { todo: [['listID', 'sort']] } }, byNumber))).toEqual([
      '21',
      '2',
    ]);
  });

  it('nothing by a field without an index, and says what to do', async () => {
    const listed = client.view('share').list({ by: 'userID' });
    await expect(listed).rejects.toMatchObject({ code: 'no-index', message: /indexes: \{ share: \['userID'\] \}/ });
  });
});

describe('a listener', () => {
  it('is called with the rows whenever they have changed, until it is stopped', async () => {
    const listener = vi.fn();
    const stop = client.view('todo').subscribe(listener, { by: 'listID', equals: 'a' });
    await expect.poll(() => listener.mock.calls.length).toBe(1);
    await client.mutate.todo.update({ id: '1', title: 'Oat milk' });
    await client.mutate.todo.update({ id: '2', title: 'Red roses' });
    await expect.poll(() => listener.mock.lastCall![0]).toMatchObject([{ title: 'Red roses' }, { title: 'Oats' }]);
    expect(listener).toHaveBeenCalledTimes(2);
    stop();
    await client.mutate.todo.delete({ id: '2' });
    expect(await client.view('todo').list()).toHaveLength(2);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  it('is never called if it is stopped before its first call', async () => {
    const listener = vi.fn();
    client.view('todo').subscribe(listener)();
    client.view('todo').watch(listener)();
    const other = vi.fn();
    client.view('todo').subscribe(other);
    await expect.poll(() => other.mock.calls.length).toBe(1);
    expect(listener).not.toHaveBeenCalled();
  });

  it('of `watch` receives the present rows first, and then each change', async () => {
    const listener = vi.fn();
    client.view('todo').watch(listener);
    await expect.poll(() => listener.mock.calls[0]?.[0]).toMatchObject([{ key: '1' }, { key: '2' }, { key: '21' }]);
    await client.mutate.todo.delete({ id: '1' });
    const before = { id: '1', listID: 'ab', title: 'Milk', done: false, sort: 1 };
    await expect.poll(() => listener.mock.calls[1]?.[0]).toEqual([{ key: '1', before }]);
    await client.mutate.todo.update({ id: '2', done: true });
    await expect
      .poll(() => listener.mock.calls[2]?.[0])
      .toMatchObject([{ key: '2', row: { done: true }, before: { done: false } }]);
  });

  it('of several views sees them in one consistent state', async () => {
    const listener = vi.fn();
    client.subscribe(async (tx) => {
      const list = await tx.view('list').get('a');
      return { name: list?.name, todos: (await tx.view('todo').list({ by: 'listID', equals: 'a' })).length };
    }, listener);
    await expect.poll(() => listener.mock.lastCall?.[0]).toEqual({ name: 'Garden', todos: 2 });
    await client.mutate.todo.delete({ id: '2' });
    await expect.poll(() => listener.mock.lastCall?.[0]).toEqual({ name: 'Garden', todos: 1 });
    expect(await client.query((tx) => tx.view('list').get('ab'))).toMatchObject({ name: 'Shopping' });
  });
});

it('a query reads several views in one consistent state', async () => {
  let deleted: Promise<void> | undefined;
  const todo = await client.query(async (tx) => {
    await tx.view('list').list();
    deleted = client.mutate.todo.delete({ id: '1' });
    // Long enough for a call that nothing blocks.
    await new Promise((resolve) => setTimeout(resolve, 100));
    return tx.view('todo').get('1');
  });
  expect(todo).toMatchObject({ title: 'Milk' });
  await deleted;
  expect(await client.view('todo').get('1')).toBeUndefined();
});

describe('an observable of rows', () => {
  it('returns what its listeners have received, as the same object until it changes', async () => {
    const observed = client.view('todo').observe({ prefix: '2' });
    expect(observed.get()).toEqual({ rows: undefined, complete: false });
    const stop = observed.subscribe(() => {});
    await expect.poll(() => observed.get()).toMatchObject({ rows: [{ id: '2' }, { id: '21' }], complete: true });
    const seen = observed.get();
    await client.mutate.todo.update({ id: '1', done: true });
    expect(await client.view('todo').get('1')).toMatchObject({ done: true });
    expect(observed.get()).toBe(seen);
    await client.mutate.todo.delete({ id: '2' });
    await expect.poll(() => observed.get().rows?.length).toBe(1);
    stop();
  });
});

it('rows that pending mutations changed are unconfirmed in all tabs until the server confirms them', async () => {
  const user = randomUUID();
  const [one, two] = [application.client({ user }), application.client({ user })];
  for (const tab of [one, two]) await expect.poll(() => tab.view('todo').list()).toHaveLength(3);
  const [first, second] = [one, two].map((tab) => tab.view('todo').observeUnconfirmed());
  const stops = [first!, second!].map(({ subscribe }) => subscribe(() => {}));
  for (const tab of [one, two]) tab.setOnline(false);
  await one.mutate.todo.update({ id: '2', title: 'Red roses' });
  await one.mutate.list.create({ id: '1', name: 'Of another view' });
  expect([...first!.get()]).toEqual(['2']);
  const seen = first!.get();
  await one.mutate.todo.update({ id: '2', done: true });
  expect(first!.get()).toBe(seen);
  await expect.poll(() => [...second!.get()]).toEqual(['2']);
  for (const tab of [one, two]) tab.setOnline(true);
  for (const { get } of [first!, second!]) await expect.poll(() => get().size).toBe(0);
  for (const stop of stops) stop();
});

it('an update leaves undefined fields unchanged, and does not create missing rows', async () => {
  await client.mutate.todo.update({ id: '1', title: undefined, done: true });
  expect(await client.view('todo').get('1')).toMatchObject({ title: 'Milk', done: true });
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  await client.mutate.todo.update({ id: 'none', done: true });
  expect(await client.view('todo').get('none')).toBeUndefined();
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^A mutator updates the row "none" of the view "todo", which is not there.*What to do: /)],
  ]);
  // Another user may have deleted the row before the mutator runs again.
  client.setOnline(false);
  await client.mutate.todo.update({ id: '1', done: false });
  await application.server.pool.query(`delete from todo where id = '1'`);
  client.setOnline(true);
  await expect.poll(() => client.view('todo').get('1')).toBeUndefined();
  expect(warn).toHaveBeenCalledOnce();
  warn.mockRestore();
});

it('the client encodes keys of several columns as the server does', async () => {
  await application.server.pool.query(`
    insert into list (id, owner_id, name) values ('x/%', 'ann', 'Odd');
    insert into share (list_id, user_id) values ('x/%', 'ben')`);
  await expect.poll(() => client.view('share').get(['x/%', 'ben'])).toEqual({ listID: 'x/%', userID: 'ben' });
  expect(await client.view('list').get('x/%')).toMatchObject({ name: 'Odd' });
  expect(await client.view('list').get(['x/%'])).toMatchObject({ name: 'Odd' });
});

describe('whether the server has answered', () => {
  it('is false after a start with stored rows, and true once its first answer has been applied', async () => {
    const user = randomUUID();
    const before = application.client({ user });
    await expect.poll(() => before.view('todo').list()).toHaveLength(3);
    await before.close();
    const tab = application.client({ user });
    tab.setOnline(false);
    const todos = tab.view('todo').observe();
    const isAnswered = tab.view('todo').observeAnswered();
    const titlesWhenAnswered: (readonly string[])[] = [];
    todos.subscribe(() => {});
    isAnswered.subscribe((is) => is && titlesWhenAnswered.push(todos.get().rows!.map(({ title }) => title)));
    await expect.poll(() => todos.get()).toMatchObject({ complete: true, rows: { length: 3 } });
    expect(isAnswered.get()).toBe(false);
    await application.server.pool.query("update todo set title = 'Oat milk' where id = '1'");
    tab.setOnline(true);
    await expect.poll(() => isAnswered.get()).toBe(true);
    expect(titlesWhenAnswered).toEqual([['Oat milk', 'Roses', 'Oats']]);
    await tab.pull();
    expect(titlesWhenAnswered).toHaveLength(1);
  });

  it('is true if the server has nothing new', async () => {
    const user = randomUUID();
    const before = application.client({ user });
    await expect.poll(() => before.view('todo').list()).toHaveLength(3);
    await before.close();
    const isAnswered = application.client({ user }).view('todo').observeAnswered();
    isAnswered.subscribe(() => {});
    expect(isAnswered.get()).toBe(false);
    await expect.poll(() => isAnswered.get()).toBe(true);
  });
});
