/** The web application's mutators predict what the server's do. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { views } from '../../../examples/tasks/src/views.js';
import { indexes, type Mutators, mutatorsFor, type Views } from '../../../examples/tasks/web/src/mutators.js';
import { createClient, openClient } from '../../../packages/client/src/create-client.js';
import { namedMutators } from '../../../packages/client/src/mutate.js';
import type { AnyOptions } from '../../../packages/client/src/options.js';
import type { ArgsOf } from '../../../packages/tidemark/src/registry/types.js';
import { startServer, type TestServer } from '../../integration/conformance/server.js';
import { mutation, pull, push } from '../../integration/conformance/wire.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ views });
});
afterAll(() => server.close());

type Args = ArgsOf<typeof mutators>;
type Call = { [Name in keyof Args]: readonly [name: Name, args: Args[Name]] }[keyof Args];

const calls: readonly Call[] = [
  ['list.create', { id: 'l', name: ' Groceries ' }],
  ['list.create', { id: 'l2', name: 'Longer ID' }],
  ['list.create', { id: 'a/b%', name: 'Odd ID' }],
  ['list.share', { listID: 'l', userID: 'ben' }],
  ['list.share', { listID: 'l2', userID: 'ben' }],
  ['list.share', { listID: 'a/b%', userID: 'ben' }],
  ['list.share', { listID: 'a/b%', userID: 'cam' }],
  ['list.unshare', { listID: 'a/b%', userID: 'cam' }],
  ['todo.create', { id: 't1', listID: 'l', title: 'Milk', sort: 1 }],
  ['todo.create', { id: 't2', listID: 'l2', title: 'Bread', sort: 0.5 }],
  ['todo.create', { id: 't3', listID: 'l2', title: 'Salt', sort: -1 }],
  ['todo.update', { id: 't2', done: true }],
  ['todo.update', { id: 't2', done: true, sort: 2 }],
  ['todo.update', { id: 't2', done: false }],
  ['todo.update', { id: 't2', done: true }],
  ['todo.update', { id: 't2', title: 'Rye bread' }],
  ['todo.update', { id: 't2', sort: 3 }],
  ['todo.update', { id: 'none', done: true }],
  ['todo.delete', { id: 't3' }],
  ['todo.delete', { id: 't2' }],
  ['todo.delete', { id: 'none' }],
  ['list.delete', { id: 'l' }],
];

it("the client has all of the server's mutators except list.fill, whose effect only the server knows", () => {
  const names = [...namedMutators(mutatorsFor('ann')).keys(), 'list.fill'];
  expect(names.sort()).toEqual([...mutators.keys()].sort());
  expect(new Set([...calls.map(([name]) => name), 'list.fill'])).toEqual(new Set(names));
});

const options = () =>
  ({ user: 'ann', url: server.url, kvStore: 'mem', mutators: mutatorsFor('ann'), indexes }) as const;

const wants = ['l', 'l2', 'a/b%'].map((listID) => ({ view: 'todo', args: { listID } }));

it('the client predicts the rows that the server returns', async () => {
  const { client, engine } = openClient(options() as AnyOptions);
  client.setOnline(false);
  const call = client.mutate as Record<string, (args: unknown) => Promise<void>>;
  try {
    for (const [i, [name, args]] of calls.entries()) {
      await call[name]!(args);
      await push(server, 'ann', [mutation(i + 1, name, { ...args })]);
      const shown: (readonly [string, unknown])[] = [];
      await engine.query(async (tx) => {
        for await (const entry of tx.scan().entries()) shown.push(entry);
      });
      const { patch } = await pull(server, 'ann', { cookie: null, wants });
      const answered = patch.flatMap((op) => (op.op === 'put' ? [[op.key, op.value]] : []));
      expect(shown, name).toEqual(answered.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
    }
  } finally {
    await client.close();
  }
});

it('shows a todo in a list that the client does not sync, until the server has confirmed it', async () => {
  await server.pool.query("delete from list; insert into list (id, owner_id, name) values ('far', 'ann', 'Far')");
  const client = createClient<Mutators, Views>({ ...options(), auth: 'Bearer ann' });
  try {
    const todos = client.view('todo', { listID: 'far' });
    const open = async () => (await client.view('list').get('far'))?.open;
    await expect.poll(open).toBe(0);
    client.setOnline(false);
    await client.mutate.todo.create({ id: 'here', listID: 'far', title: 'Walk', sort: 1 });
    expect([await todos.count(), await open()]).toEqual([1, 1]);
    client.setOnline(true);
    await expect.poll(() => todos.count()).toBe(0);
    expect(await open()).toBe(1);
  } finally {
    await client.close();
  }
});
