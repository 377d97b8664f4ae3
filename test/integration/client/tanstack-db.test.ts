import {
  BasicIndex,
  type ChangeMessage,
  count,
  createCollection,
  createLiveQueryCollection,
  createTransaction,
  eq,
  type WithVirtualProps,
} from '@tanstack/db';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { tidemarkCollectionOptions } from '../../../packages/client/src/tanstack-db.js';
import type { Todo } from '../../support/whole-views.js';
import { type TasksClient, useApplication } from './application.js';

/** Pushes wait at the server until this promise resolves. */
let pushBarrier: Promise<void> | undefined;
let release = () => {};
const application = useApplication({
  async authenticate(request) {
    if (request.url.endsWith('/push')) await pushBarrier;
    return authenticate(request);
  },
});
let client: TasksClient;

beforeEach(async () => {
  await application.server.pool.query(`
    delete from tidemark.refusal;
    insert into list (id, owner_id, name) values ('a', 'ann', 'Garden'), ('b', 'ann', 'Shopping');
    insert into share (list_id, user_id) values ('a', 'ben');
    insert into todo (id, list_id, title, sort) values ('1', 'b', 'Milk', 1), ('2', 'a', 'Roses', 2), ('3', 'a', 'Oats', 3)`);
  client = application.client();
  await expect.poll(() => client.view('todo').list()).toHaveLength(3);
});
afterEach(() => release());

function hold(): void {
  pushBarrier = new Promise((resolve) => {
    release = resolve;
  });
}

function todoCollection(of = client) {
  return createCollection(
    tidemarkCollectionOptions({
      client: of,
      view: 'todo',
      getKey: (todo) => todo.id,
      autoIndex: 'eager',
      defaultIndexType: BasicIndex,
      onInsert: ({ transaction }) =>
        Promise.all(transaction.mutations.map(({ modified: { done: _, ...todo } }) => of.mutate.todo.create(todo))),
      onUpdate: ({ transaction }) =>
        Promise.all(transaction.mutations.map(({ key, changes }) => of.mutate.todo.update({ id: key, ...changes }))),
      onDelete: ({ transaction }) =>
        Promise.all(transaction.mutations.map(({ key }) => of.mutate.todo.delete({ id: key }))),
    }),
  );
}

/** A loaded collection, and the changes of each row that its subscribers have received since. */
async function watched() {
  const todos = todoCollection();
  await todos.preload();
  const events: [key: string, title: string | undefined, synced: boolean][] = [];
  const listener = (changes: readonly ChangeMessage<WithVirtualProps<Todo, string>, string>[]) => {
    for (const { key, type, value } of changes) {
      events.push([key, type === 'delete' ? undefined : value.title, value.$synced]);
    }
  };
  todos.subscribeChanges(listener, { includeInitialState: true });
  events.length = 0;
  return { todos, events };
}

const sql = (text: string) => application.server.pool.query(text);

describe('a collection of a view', () => {
  it('has the rows of the view, and follows changes by others', async () => {
    const { todos, events } = await watched();
    expect(todos.toArray.map(({ title }) => title)).toEqual(['Milk', 'Roses', 'Oats']);
    await sql("update todo set title = 'Red roses' where id = '2'");
    await expect.poll(() => todos.get('2')?.title).toBe('Red roses');
    await sql(
      "delete from todo where id = '1'; insert into todo (id, list_id, title, sort) values ('4', 'a', 'Tea', 4)",
    );
    await expect.poll(() => [...todos.keys()]).toEqual(['2', '3', '4']);
    expect(events.toSorted()).toEqual([
      ['1', undefined, true],
      ['2', 'Red roses', true],
      ['4', 'Tea', true],
    ]);
  });

  it('takes several columns as a key', async () => {
    const shares = createCollection(
      tidemarkCollectionOptions({ client, view: 'share', getKey: ({ listID, userID }) => [listID, userID] }),
    );
    await shares.preload();
    expect(shares.get('a/ben')).toMatchObject({ listID: 'a', userID: 'ben' });
    await sql("delete from share; insert into share (list_id, user_id) values ('b', '50%/c')");
    await expect.poll(() => [...shares.keys()]).toEqual(['b/50%25%2Fc']);
  });

  it('reports a getKey that does not return the key of the view', async () => {
    const todos = createCollection(tidemarkCollectionOptions({ client, view: 'todo', getKey: ({ title }) => title }));
    await expect(todos.preload()).rejects.toMatchObject({ code: 'wrong-key', message: /says "Milk" of the row "1"/ });
    await expect.poll(() => todos.status).toBe('error');
  });

  it('of a closed client rejects, instead of loading forever', async () => {
    await client.close();
    await expect(todoCollection().preload()).rejects.toMatchObject({ code: 'closed' });
  });

  it('serves live queries with joins and aggregates', async () => {
    const lists = createCollection(
      tidemarkCollectionOptions({
        client,
        view: 'list',
        getKey: ({ id }) => id,
        autoIndex: 'eager',
        defaultIndexType: BasicIndex,
      }),
    );
    const todos = todoCollection();
    const counts = createLiveQueryCollection((q) =>
      q
        .from({ todo: todos })
        .innerJoin({ list: lists }, ({ todo, list }) => eq(todo.listID, list.id))
        .groupBy(({ list }) => list.name)
        .select(({ todo, list }) => ({ name: list.name, todos: count(todo.id) })),
    );
    await counts.preload();
    const found = () => counts.toArray.map(({ name, todos }) => `${name} ${todos}`).toSorted();
    expect(found()).toEqual(['Garden 2', 'Shopping 1']);
    await client.mutate.todo.create({ id: '4', listID: 'b', title: 'Tea', sort: 4 });
    expect(found()).toEqual(['Garden 2', 'Shopping 2']);
    await sql("update list set name = 'Market' where id = 'b'");
    await expect.poll(found).toEqual(['Garden 2', 'Market 2']);
  });

  it('reads nothing after it is cleaned up, and can start again', async () => {
    const getKey = vi.fn(({ id }: Todo) => id);
    const todos = createCollection(tidemarkCollectionOptions({ client, view: 'todo', getKey }));
    await todos.preload();
    await todos.cleanup();
    getKey.mockClear();
    await sql("update todo set title = 'Red roses' where id = '2'");
    await expect.poll(async () => (await client.view('todo').get('2'))?.title).toBe('Red roses');
    expect(getKey).not.toHaveBeenCalled();
    await todos.preload();
    expect(todos.toArray.map(({ title }) => title)).toEqual(['Milk', 'Red roses', 'Oats']);
  });
});

describe('a change by the user', () => {
  it('settles when it is stored locally, and stays visible while the push waits and others write', async () => {
    hold();
    const { todos, events } = await watched();
    const changed = todos.update('2', (todo) => {
      todo.title = 'Red roses';
    });
    expect(todos.get('2')).toMatchObject({ title: 'Red roses', $synced: false });
    await changed.when('settled');
    expect(client.pending.get()).toHaveLength(1);
    await sql("update todo set title = 'Oat milk' where id = '3'");
    await expect.poll(() => todos.get('3')?.title).toBe('Oat milk');
    // The same row, but another field.
    await sql("update todo set done = true, title = 'Weeds' where id = '2'");
    await expect.poll(() => todos.get('2')?.done).toBe(true);
    expect(todos.get('2')).toMatchObject({ title: 'Red roses', $synced: false, $hasPendingWrites: true });
    expect(todos.get('3')).toMatchObject({ $synced: true });

    release();
    await expect.poll(() => todos.get('2')?.$synced).toBe(true);
    expect(client.pending.get()).toEqual([]);
    expect(new Set(events.filter(([key]) => key === '2').map(([, title]) => title))).toEqual(new Set(['Red roses']));
    expect(events.filter(([key, , synced]) => key === '2' && synced)).toHaveLength(1);
    expect(events.at(-1)).toEqual(['2', 'Red roses', true]);
  });

  it('to several rows and collections in one transaction appears immediately and stays', async () => {
    hold();
    const { todos, events } = await watched();
    const lists = createCollection(
      tidemarkCollectionOptions({
        client,
        view: 'list',
        getKey: ({ id }) => id,
        onInsert: ({ transaction }) =>
          Promise.all(
            transaction.mutations.map(({ modified: { id, name } }) => client.mutate.list.create({ id, name })),
          ),
      }),
    );
    await lists.preload();
    const transaction = createTransaction({
      async mutationFn() {
        await client.mutate.list.create({ id: 'c', name: 'Work' });
        await client.mutate.todo.create({ id: '4', listID: 'c', title: 'Offer', sort: 4 });
        await client.mutate.todo.delete({ id: '1' });
      },
    });
    transaction.mutate(() => {
      lists.insert({ id: 'c', name: 'Work', ownerID: 'me' });
      todos.insert({ id: '4', listID: 'c', title: 'Offer', done: false, sort: 4 });
      todos.delete('1');
    });
    await transaction.when('settled');
    todos.update(['2', '3'], (drafts) => {
      for (const draft of drafts) draft.done = true;
    });
    await expect.poll(() => client.pending.get()).toHaveLength(5);
    expect([...todos.keys()].toSorted()).toEqual(['2', '3', '4']);
    release();
    await expect.poll(() => client.pending.get()).toEqual([]);
    await expect.poll(() => [...lists.values(), ...todos.values()].every(({ $synced }) => $synced)).toBe(true);
    expect(events.filter(([key]) => key === '1')).toEqual([['1', undefined, true]]);
    expect(events.filter(([key, title]) => key === '4' && title === undefined)).toEqual([]);
    const { rows } = await sql('select id, done from todo order by id');
    expect(rows).toEqual([
      { id: '2', done: true },
      { id: '3', done: true },
      { id: '4', done: false },
    ]);
  });

  it('is undone when the server refuses it, and changes by others appear', async () => {
    hold();
    const { todos } = await watched();
    // The list is no longer shared with Ann when the server receives the mutations.
    await sql("insert into list (id, owner_id, name) values ('s', 'ben', 'Shared')");
    await sql("insert into share (list_id, user_id) values ('s', 'ann')");
    await sql("insert into todo (id, list_id, title, sort) values ('5', 's', 'Rake', 5)");
    await expect.poll(() => todos.has('5')).toBe(true);
    todos.insert({ id: '6', listID: 's', title: 'Spade', done: false, sort: 6 });
    todos.delete('5');
    await expect.poll(() => client.pending.get()).toHaveLength(2);
    await sql("delete from share where list_id = 's'");
    release();
    await expect.poll(() => client.refused.get()).toHaveLength(2);
    await expect.poll(() => client.pending.get()).toEqual([]);
    expect([...todos.keys()].toSorted()).toEqual(['1', '2', '3']);
  });

  it('is undone when the client’s mutator throws', async () => {
    const broken = application.client({ mutators: { todo: { update: () => Promise.reject(new Error('Not today')) } } });
    const todos = todoCollection(broken);
    await expect.poll(() => broken.view('todo').list()).toHaveLength(3);
    await todos.preload();
    const failed = todos.update('2', (todo) => {
      todo.title = 'Red roses';
    });
    await expect(failed.when('settled')).rejects.toThrow('Not today');
    expect(todos.get('2')).toMatchObject({ title: 'Roses', $synced: true });
  });

  it('appears even if made outside the collection, and is not marked as synced', async () => {
    hold();
    const { todos } = await watched();
    await client.mutate.todo.update({ id: '2', title: 'Red roses' });
    await client.mutate.todo.create({ id: '4', listID: 'a', title: 'Tea', sort: 4 });
    expect(todos.get('2')).toMatchObject({ title: 'Red roses', $synced: false });
    expect(todos.get('4')).toMatchObject({ title: 'Tea', $synced: false });
    expect(todos.get('3')).toMatchObject({ $synced: true });
    const late = todoCollection();
    await late.preload();
    expect(late.toArray.map(({ id, $synced }) => [id, $synced])).toEqual([
      ['1', true],
      ['2', false],
      ['3', true],
      ['4', false],
    ]);
  });

  it('reaches handlers as plain rows, without marks for unconfirmed ones', async () => {
    hold();
    const { todos } = await watched();
    await client.mutate.todo.update({ id: '2', title: 'Red roses' });
    expect(todos.get('2')).toMatchObject({ $synced: false });
    const { mutations } = await todos
      .update('2', (todo) => {
        todo.done = true;
      })
      .when('settled');
    const row = { id: '2', listID: 'a', title: 'Red roses', sort: 2 };
    expect(mutations.map(({ original, modified }) => [original, modified])).toEqual([
      [
        { ...row, done: false },
        { ...row, done: true },
      ],
    ]);
  });
});

it('a sign-out empties collections and live queries, and rejects later changes', async () => {
  const todos = todoCollection();
  const titles = createLiveQueryCollection((q) =>
    q.from({ todo: todos }).select(({ todo }) => ({ title: todo.title })),
  );
  await titles.preload();
  expect(titles.size).toBe(3);
  const signedOut = client.signOut();
  await expect.poll(() => [todos.size, titles.size]).toEqual([0, 0]);
  await signedOut;
  const inserted = todos.insert({ id: '9', listID: 'a', title: 'Late', sort: 9, done: false });
  await expect(inserted.isPersisted.promise).rejects.toMatchObject({ code: 'signed-out' });
  expect(todos.size).toBe(0);

  await titles.cleanup();
  await todos.cleanup();
  const again = todoCollection();
  for (const collection of [todos, again]) {
    collection.startSyncImmediate();
    await expect.poll(() => collection.status).toBe('error');
    expect(collection.size).toBe(0);
  }
});
