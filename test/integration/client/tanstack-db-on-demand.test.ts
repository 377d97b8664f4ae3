import { randomUUID } from 'node:crypto';
import {
  and,
  BasicIndex,
  collectionOptions,
  createCollection,
  createLiveQueryCollection,
  DbClient,
  eq,
  gt,
  inArray,
  like,
} from '@tanstack/db';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { type OrderField, tidemarkCollectionOptions } from '../../../packages/client/src/tanstack-db.js';
import { useApplication } from './application.js';
import { type OnDemandClient, onDemandViews } from './on-demand.js';

/** Requests wait at the server until this promise resolves. */
let barrier: Promise<void> | undefined;
let release = () => {};
const application = useApplication({
  views: onDemandViews,
  async authenticate(request) {
    await barrier;
    return authenticate(request);
  },
});
let client: OnDemandClient;
const sql = (text: string) => application.server.pool.query(text);

beforeEach(async () => {
  await sql(`
    insert into list (id, owner_id, name) values ('a', 'ann', 'Garden'), ('b', 'ann', 'Shopping'), ('c', 'ann', 'Work');
    insert into todo (id, list_id, title, sort) values
      ('1', 'b', 'Milk', 1), ('2', 'a', 'Roses', 2), ('3', 'a', 'Oats', 3), ('4', 'c', 'Offer', 4)`);
  client = application.client() as unknown as OnDemandClient;
  await expect.poll(() => client.view('list').list()).toHaveLength(3);
});
afterEach(() => release());

function hold(): void {
  barrier = new Promise((resolve) => {
    release = resolve;
  });
}

function todoCollection(ttl?: number) {
  return createCollection(
    tidemarkCollectionOptions({
      client,
      view: 'todo',
      getKey: (todo) => todo.id,
      syncMode: 'on-demand',
      args: ['listID'],
      ttl,
      autoIndex: 'eager',
      defaultIndexType: BasicIndex,
      onInsert: ({ transaction }) =>
        Promise.all(transaction.mutations.map(({ modified: { done: _, ...todo } }) => client.mutate.todo.create(todo))),
    }),
  );
}

type Todos = ReturnType<typeof todoCollection>;

/** A live query of the todos of some lists. */
function ofLists(todos: Todos, ...listIDs: string[]) {
  return createLiveQueryCollection((q) =>
    q
      .from({ todo: todos })
      .where(({ todo }) => (listIDs.length === 1 ? eq(todo.listID, listIDs[0]!) : inArray(todo.listID, listIDs))),
  );
}

const titles = (query: { readonly toArray: readonly { readonly title: string | undefined }[] }) =>
  query.toArray.map(({ title }) => title).toSorted();

describe('a collection on demand', () => {
  it('has the rows that its queries need, from the server, and follows changes by others', async () => {
    const todos = todoCollection();
    const garden = ofLists(todos, 'a');
    await garden.preload();
    expect(titles(garden)).toEqual(['Oats', 'Roses']);
    expect(todos.size).toBe(2);
    const two = ofLists(todos, 'a', 'b');
    await two.preload();
    expect(titles(two)).toEqual(['Milk', 'Oats', 'Roses']);
    expect(todos.size).toBe(3);
    await sql("update todo set title = 'Red roses' where id = '2'; update todo set list_id = 'b' where id = '3'");
    await expect.poll(() => titles(garden)).toEqual(['Red roses']);
    expect(titles(two)).toEqual(['Milk', 'Oats', 'Red roses']);
  });

  it('orders and limits the rows of an instance locally', async () => {
    const todos = todoCollection();
    const last = createLiveQueryCollection((q) =>
      q
        .from({ todo: todos })
        .where(({ todo }) => and(eq(todo.listID, 'a'), gt(todo.sort, 0)))
        .orderBy(({ todo }) => todo.sort, 'desc')
        .limit(1),
    );
    await last.preload();
    expect(titles(last)).toEqual(['Oats']);
    expect(todos.size).toBe(2);
    hold();
    await client.mutate.todo.create({ id: '5', listID: 'a', title: 'Tea', sort: 5 });
    await expect.poll(() => titles(last)).toEqual(['Tea']);
  });

  it('is not ready before the server has answered, but shows local rows', async () => {
    hold();
    const todos = todoCollection();
    const garden = ofLists(todos, 'a');
    let isReady = false;
    const ready = garden.preload().then(() => {
      isReady = true;
    });
    await client.mutate.todo.create({ id: '5', listID: 'a', title: 'Tea', sort: 5 });
    await expect.poll(() => todos.size).toBe(1);
    expect([garden.status, garden.isLoadingSubset, isReady]).toEqual(['loading', true, false]);
    release();
    await ready;
    expect(titles(garden)).toEqual(['Oats', 'Roses', 'Tea']);
    await expect.poll(() => todos.get('5')?.$synced).toBe(true);
  });

  it('shares an instance between queries, and is ready at once for those whose instances are complete', async () => {
    const todos = todoCollection();
    await ofLists(todos, 'a').preload();
    hold();
    const again = ofLists(todos, 'a');
    await again.preload();
    expect(titles(again)).toEqual(['Oats', 'Roses']);
  });

  it('lets go of instances that no query needs, after their ttl', async () => {
    const todos = todoCollection(0);
    const [garden, two] = [ofLists(todos, 'a'), ofLists(todos, 'a', 'b')];
    await Promise.all([garden.preload(), two.preload()]);
    expect(todos.size).toBe(3);
    await two.cleanup();
    await expect.poll(() => client.pull().then(() => todos.size)).toBe(2);
    await garden.cleanup();
    await expect.poll(() => client.pull().then(() => todos.size)).toBe(0);
  });

  it('lets go of its instances when it is cleaned up', async () => {
    const todos = todoCollection(0);
    await ofLists(todos, 'a').preload();
    const other = todoCollection(0);
    await ofLists(other, 'b').preload();
    expect(other.size).toBe(3);
    await todos.cleanup();
    await expect.poll(() => client.pull().then(() => other.size)).toBe(1);
  });

  it('syncs the right side of a left join by the rows of the left side', async () => {
    const lists = createCollection(tidemarkCollectionOptions({ client, view: 'list', getKey: ({ id }) => id }));
    const todos = todoCollection();
    const joined = createLiveQueryCollection((q) =>
      q
        .from({ list: lists })
        .where(({ list }) => inArray(list.name, ['Garden', 'Work']))
        .leftJoin({ todo: todos }, ({ list, todo }) => eq(list.id, todo.listID))
        .select(({ list, todo }) => ({ title: todo.title, list: list.name })),
    );
    await joined.preload();
    expect(titles(joined)).toEqual(['Oats', 'Offer', 'Roses']);
    expect(todos.size).toBe(3);
    await sql("insert into list (id, owner_id, name) values ('d', 'ann', 'Work')");
    await sql("insert into todo (id, list_id, title, sort) values ('6', 'd', 'Call', 6)");
    await expect.poll(() => titles(joined)).toEqual(['Call', 'Oats', 'Offer', 'Roses']);
  });

  it('shows an insert by the user, and marks it as synced once the server has confirmed it', async () => {
    const todos = todoCollection();
    const garden = ofLists(todos, 'a');
    await garden.preload();
    hold();
    todos.insert({ id: '5', listID: 'a', title: 'Tea', done: false, sort: 5 });
    expect(titles(garden)).toEqual(['Oats', 'Roses', 'Tea']);
    expect(todos.get('5')).toMatchObject({ $synced: false });
    release();
    await expect.poll(() => todos.get('5')?.$synced).toBe(true);
    expect(titles(garden)).toEqual(['Oats', 'Roses', 'Tea']);
  });
});

describe('the limit of a query', () => {
  /** The arguments that the collection's queries have asked for. */
  let limits: (readonly [limit: number, order: readonly OrderField[]])[];
  /** Has the last todos of a list, in steps of two. */
  const lastTodos = () =>
    createCollection(
      tidemarkCollectionOptions({
        client,
        view: 'lastTodo',
        getKey: (todo) => todo.id,
        syncMode: 'on-demand',
        args: ['listID'],
        limitArgs(limit, order) {
          limits.push([limit, order]);
          return order[0]?.field === 'sort' && order[0].direction === 'desc' ? { last: Math.ceil(limit / 2) * 2 } : {};
        },
        ttl: 0,
        autoIndex: 'eager',
        defaultIndexType: BasicIndex,
      }),
    );
  type LastTodos = ReturnType<typeof lastTodos>;
  const lastOf = (todos: LastTodos, limit: number, ...conditions: readonly 'milk'[]) =>
    createLiveQueryCollection((q) =>
      q
        .from({ todo: todos })
        .where(({ todo }) =>
          conditions.length > 0 ? and(eq(todo.listID, 'd'), like(todo.title, '%milk')) : eq(todo.listID, 'd'),
        )
        .orderBy(({ todo }) => todo.sort, 'desc')
        .limit(limit),
    );
  const inOrder = (query: ReturnType<typeof lastOf>) => query.toArray.map(({ sort }) => sort);

  beforeEach(async () => {
    limits = [];
    await sql(`
      insert into list (id, owner_id, name) values ('d', 'ann', 'Long');
      insert into todo (id, list_id, title, sort)
      select 'd' || n, 'd', case n when 1 then 'Oat milk' else 'Tea' end, n from generate_series(1, 9) n`);
  });

  it('becomes an argument, so that the client has only the first rows', async () => {
    const todos = lastTodos();
    const last = lastOf(todos, 3);
    await last.preload();
    expect(inOrder(last)).toEqual([9, 8, 7]);
    expect(limits[0]).toEqual([3, [{ field: 'sort', direction: 'desc', nulls: 'first' }]]);
    expect(todos.size).toBe(4);
  });

  it('selects among rows with equal values as the view does', async () => {
    await sql("update todo set sort = 1 where list_id = 'd'");
    const todos = lastTodos();
    const last = createLiveQueryCollection((q) =>
      q
        .from({ todo: todos })
        .where(({ todo }) => eq(todo.listID, 'd'))
        .orderBy(({ todo }) => todo.sort, 'desc')
        .orderBy(({ todo }) => todo.id)
        .limit(3),
    );
    await last.preload();
    expect(last.toArray.map(({ id }) => id)).toEqual(['d1', 'd2', 'd3']);
    expect(limits[0]![1].map(({ field }) => field)).toEqual(['sort', 'id']);
    expect(todos.size).toBe(4);
  });

  it('follows changes by others', async () => {
    const todos = lastTodos();
    const last = lastOf(todos, 4);
    await last.preload();
    await sql("insert into todo (id, list_id, title, sort) values ('new', 'd', 'New', 10)");
    await expect.poll(() => inOrder(last)).toEqual([10, 9, 8, 7]);
    await sql("delete from todo where id in ('new', 'd8')");
    await expect.poll(() => inOrder(last)).toEqual([9, 7, 6, 5]);
    await sql("update todo set sort = 20 where id = 'd1'");
    await expect.poll(() => inOrder(last)).toEqual([20, 9, 7, 6]);
    expect(new Set(limits.map(([limit]) => limit))).toEqual(new Set([4]));
    expect(todos.size).toBe(4);
  });

  it('grows with the window of the query', async () => {
    const todos = lastTodos();
    const last = lastOf(todos, 2);
    await last.preload();
    expect(todos.size).toBe(2);
    await last.utils.setWindow({ offset: 0, limit: 5 });
    await expect.poll(() => inOrder(last)).toEqual([9, 8, 7, 6, 5]);
    expect(todos.size).toBe(6);
    await last.utils.setWindow({ offset: 4, limit: 2 });
    await expect.poll(() => inOrder(last)).toEqual([5, 4]);
  });

  it('stays local for another order, and with further conditions', async () => {
    const milk = lastOf(lastTodos(), 1, 'milk');
    await milk.preload();
    expect(inOrder(milk)).toEqual([1]);
    expect(limits).toEqual([]);
    const todos = lastTodos();
    const first = createLiveQueryCollection((q) =>
      q
        .from({ todo: todos })
        .where(({ todo }) => eq(todo.listID, 'd'))
        .orderBy(({ todo }) => todo.sort)
        .limit(1),
    );
    await first.preload();
    expect(inOrder(first)).toEqual([1]);
    expect(todos.size).toBe(9);
  });
});

describe('the initial data of a collection', () => {
  const seeds = [
    { id: '2', listID: 'a', title: 'Red roses', done: false, sort: 2 },
    { id: '7', listID: 'a', title: 'Tulips', done: false, sort: 7 },
  ];
  /** The titles of the rows that a query has shown. */
  let shown: (string | undefined)[][];

  /** Opens a client that has stored the lists and the todos of the lists a and b before, and holds its requests. */
  async function returning(): Promise<OnDemandClient> {
    const user = randomUUID();
    const earlier = application.client({ user }) as unknown as OnDemandClient;
    for (const listID of ['a', 'b']) earlier.view('todo', { listID }).subscribe(() => {}, { ttl: 'forever' });
    for (const [listID, count] of [
      ['a', 2],
      ['b', 1],
    ] as const) {
      await expect.poll(() => earlier.view('todo', { listID }).list()).toHaveLength(count);
    }
    await earlier.close();
    await sql(`
      update todo set title = 'Red roses' where id = '2'; delete from todo where id = '3';
      insert into todo (id, list_id, title, sort) values ('7', 'a', 'Tulips', 7);
      update list set name = 'Yard' where id = 'a'`);
    hold();
    return application.client({ user }) as unknown as OnDemandClient;
  }

  /** A collection of a client's todos that a server has rendered. */
  const rendered = (of: OnDemandClient) =>
    new DbClient().collection(
      collectionOptions({
        id: 'todos',
        ...tidemarkCollectionOptions({
          client: of,
          view: 'todo',
          getKey: (todo) => todo.id,
          syncMode: 'on-demand',
          args: ['listID'],
          autoIndex: 'eager',
          defaultIndexType: BasicIndex,
        }),
      }),
      { initialData: seeds },
    );

  function show(todos: Todos, listID: string) {
    const query = ofLists(todos, listID);
    shown = [];
    query.subscribeChanges(() => shown.push(titles(query)), { includeInitialState: true });
    return query;
  }

  it('replaces the rows of an earlier visit until the server has answered', async () => {
    const tab = await returning();
    const todos = rendered(tab);
    const garden = show(todos as never, 'a');
    await garden.preload();
    await expect.poll(() => tab.view('todo', { listID: 'a' }).list()).toHaveLength(2);
    expect(titles(garden)).toEqual(['Red roses', 'Tulips']);
    // Other instances have no initial data.
    const shopping = ofLists(todos as never, 'b');
    await shopping.preload();
    expect(titles(shopping)).toEqual(['Milk']);
    await sql("delete from todo where id = '7'");
    release();
    await expect.poll(() => titles(garden)).toEqual(['Red roses']);
    expect(shown.flat()).not.toContain('Oats');
    expect(shown.flat()).not.toContain('Roses');
  });

  it('shows the changes of the user until then', async () => {
    const tab = await returning();
    const garden = show(rendered(tab) as never, 'a');
    await garden.preload();
    await tab.mutate.todo.create({ id: '9', listID: 'a', title: 'Lilies', sort: 9 });
    await expect.poll(() => titles(garden)).toEqual(['Lilies', 'Red roses', 'Tulips']);
    await tab.mutate.todo.delete({ id: '2' });
    await expect.poll(() => titles(garden)).toEqual(['Lilies', 'Tulips']);
    release();
    await expect.poll(() => tab.pending.get()).toEqual([]);
    expect(titles(garden)).toEqual(['Lilies', 'Tulips']);
    expect(shown.flat()).not.toContain('Oats');
  });

  it('gives way to the rows of an earlier visit if the server cannot be reached', async () => {
    const tab = await returning();
    const garden = show(rendered(tab) as never, 'a');
    await garden.preload();
    expect(titles(garden)).toEqual(['Red roses', 'Tulips']);
    tab.setOnline(false);
    await expect.poll(() => titles(garden)).toEqual(['Oats', 'Roses']);
  });

  it('is gone after a sign-out', async () => {
    const tab = await returning();
    const garden = show(rendered(tab) as never, 'a');
    await garden.preload();
    expect(titles(garden)).toEqual(['Red roses', 'Tulips']);
    await tab.signOut();
    await expect.poll(() => titles(garden)).toEqual([]);
  });

  it('also replaces the rows of a view without arguments', async () => {
    const tab = await returning();
    const options = tidemarkCollectionOptions({ client: tab, view: 'list', getKey: ({ id }) => id });
    const lists = new DbClient().collection(collectionOptions({ id: 'lists', ...options }), {
      initialData: [{ id: 'a', name: 'Yard', ownerID: 'ann' }],
    });
    await lists.preload();
    await expect.poll(() => tab.view('list').list()).toHaveLength(3);
    expect(lists.toArray.map(({ name }) => name)).toEqual(['Yard']);
    release();
    await expect.poll(() => lists.toArray.map(({ name }) => name)).toEqual(['Yard', 'Shopping', 'Work']);
  });
});

describe('a query of a collection on demand fails', () => {
  it('if it leaves an argument open', async () => {
    const all = createLiveQueryCollection((q) => q.from({ todo: todoCollection() }));
    await expect(all.preload()).rejects.toMatchObject({ code: 'open-argument', message: /"listID"/ });
    const later = createLiveQueryCollection((q) =>
      q.from({ todo: todoCollection() }).where(({ todo }) => gt(todo.sort, 1)),
    );
    await expect(later.preload()).rejects.toMatchObject({ code: 'open-argument' });
  });

  it('if the server refuses its arguments, while other queries continue', async () => {
    const todos = todoCollection();
    const refused = ofLists(todos, 'longer than twenty characters');
    const garden = ofLists(todos, 'a');
    const [failure] = await Promise.allSettled([refused.preload(), garden.preload()]);
    expect(failure).toMatchObject({ status: 'rejected', reason: { code: 'invalid-args' } });
    expect(titles(garden)).toEqual(['Oats', 'Roses']);
  });

  it('if the user signs out before the server has answered', async () => {
    hold();
    const garden = ofLists(todoCollection(), 'a');
    const ready = garden.preload();
    const rejected = expect(ready).rejects.toMatchObject({ code: 'closed' });
    await client.signOut();
    await rejected;
  });
});
