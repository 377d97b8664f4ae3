/** A program that calls the example's mutators by types that are generated from its OpenAPI document. */
import createClient from 'openapi-fetch';
// The test generates it beside a copy of this file.
import type { components, paths } from './api.js';

/** The results of the calls, in their order. */
export interface Outcome {
  readonly statuses: readonly number[];
  /** The code of the problem that the last call met: what it works on is gone by then. */
  readonly code: string | undefined;
}

function connect(baseUrl: string, token: string) {
  return createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
}

/**
 * Makes a todo in a list of the caller's own, changes it, deletes it, and deletes the list, which fails the second
 * time.
 */
export async function run(baseUrl: string, token: string): Promise<Outcome> {
  const client = connect(baseUrl, token);
  const listID = crypto.randomUUID();
  const id = crypto.randomUUID();
  const key = { 'Idempotency-Key': crypto.randomUUID() };

  const list = await client.POST('/api/mutators/list/create', { body: { id: listID, name: 'Typed' } });
  const body = { id, listID, title: 'Write a client', sort: 1 };
  const created = await client.POST('/api/mutators/todo/create', { params: { header: key }, body });
  const again = await client.POST('/api/mutators/todo/create', { params: { header: key }, body });
  const tried = await client.POST('/api/mutators/todo/update', {
    params: { header: { Prefer: 'tx=rollback' } },
    body: { id, done: true },
  });
  const rolledBack: true | undefined = tried.data?.rolledBack;
  if (!rolledBack) throw new Error('the update should have been tried only');
  const updated = await client.POST('/api/mutators/todo/update', { body: { id, done: true } });
  const batch = await client.POST('/api/mutators', {
    body: [
      { name: 'todo.update', args: { id, title: 'Written' } },
      { name: 'todo.delete', args: { id } },
    ],
  });
  const oks: true[] | undefined = batch.data?.map(({ ok }) => ok);
  if (oks?.length !== 2) throw new Error('a batch answers each call');
  const deleted = await client.POST('/api/mutators/list/delete', { body: { id: listID } });
  const gone = await client.POST('/api/mutators/list/delete', { body: { id: listID } });
  const calls = [list, created, again, tried, updated, batch, deleted, gone];
  return { statuses: calls.map(({ response }) => response.status), code: gone.error?.code };
}

type Todo = components['schemas']['TodoRow'];

/** Of the forms in which views are read, JSON alone. */
type JSONTypes = 'application/json' | 'application/problem+json';

/** Follows the todos that the caller sees. Yields all of them, by key, each time that anything has changed. */
export async function* followTodos(baseUrl: string, token: string): AsyncGenerator<ReadonlyMap<string, Todo>> {
  const client = createClient<paths, JSONTypes>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const todos = new Map<string, Todo>();
  let since = '';
  for (;;) {
    const params = { query: { since }, header: { Prefer: 'wait=30' } };
    const { data, response } = await client.GET('/api/views/todo', { params });
    if (!data || Array.isArray(data)) throw new Error(`There are no ops, but the status ${response.status}`);
    for (const op of data.patch) {
      if (op.op === 'put') todos.set(op.key, op.value);
      else if (op.op === 'del') todos.delete(op.key);
      else todos.clear();
    }
    if (data.patch.length > 0) yield todos;
    since = data.cookie;
  }
}

/** A list by its key; undefined if there is none. */
export async function nameOfList(baseUrl: string, token: string, key: string): Promise<string | undefined> {
  const client = createClient<paths, JSONTypes>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const { data, error } = await client.GET('/api/views/list/{key}', { params: { path: { key } } });
  if (error?.code === 'unknown-key') return undefined;
  return data && 'name' in data ? data.name : undefined;
}

/** Never runs: each of these calls is wrong in one thing, which the compiler finds. */
export async function mistakes(baseUrl: string): Promise<void> {
  const client = connect(baseUrl, 'ann');
  const todo = { id: 'a', listID: 'b', title: 'c', sort: 1 };
  // @ts-expect-error A member is missing.
  await client.POST('/api/mutators/todo/create', { body: { id: 'a', listID: 'b', title: 'c' } });
  // @ts-expect-error A member has the wrong type.
  await client.POST('/api/mutators/todo/create', { body: { ...todo, sort: '1' } });
  // openapi-fetch lets further members pass; a body with its type written down does not.
  // @ts-expect-error There is no such member.
  const update: components['schemas']['TodoUpdateArgs'] = { id: 'a', finished: true };
  await client.POST('/api/mutators/todo/update', { body: update });
  // @ts-expect-error There are no arguments.
  await client.POST('/api/mutators/todo/delete', {});
  // @ts-expect-error There is no such mutator.
  await client.POST('/api/mutators/todo/forget', { body: { id: 'a' } });
  // @ts-expect-error Mutators are posted to.
  await client.GET('/api/mutators/todo/delete');
  // @ts-expect-error There is no such preference.
  await client.POST('/api/mutators/todo/delete', { params: { header: { Prefer: 'tx=commit' } }, body: { id: 'a' } });
  // @ts-expect-error The arguments are those of another mutator.
  await client.POST('/api/mutators', { body: [{ name: 'todo.create', args: { id: 'a' } }] });
  // @ts-expect-error A batch names a mutator that there is not.
  await client.POST('/api/mutators', { body: [{ name: 'todo.forget', args: { id: 'a' } }] });
  const { data, error } = await client.POST('/api/mutators/todo/create', { body: todo });
  // @ts-expect-error A row has a key.
  await client.GET('/api/views/todo/{key}');
  // @ts-expect-error There is no such view.
  await client.GET('/api/views/nothing');
  const rows = await client.GET('/api/views/todo');
  if (Array.isArray(rows.data)) {
    // @ts-expect-error The column is a boolean, and never null.
    const wrong: string | null | undefined = rows.data[0]?.done;
    const right: boolean | undefined = rows.data[0]?.done;
    throw new Error(String([wrong, right]));
  }
  // @ts-expect-error A success is no failure.
  const no: false | undefined = data?.ok;
  // @ts-expect-error There is no such code.
  if (error?.code === 'oops') throw new Error(String(no));
}
