/** Mutators written for Replicache's client, run over rows and compared with the client itself. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type JSONValue, Replicache, type WriteTransaction } from 'replicache';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { type KeyValueTransaction, keyValue } from '../../../packages/tidemark/src/key-value/key-value.js';
import type { KeyValueRows } from '../../../packages/tidemark/src/key-value/store.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { createSynced } from '../../support/synced.js';

const todoView = defineView({
  query: ({ ctx }) => sql<{ id: string }>`select id, text, done, tags from todo where owner_id = ${ctx.userID}`,
  key: 'id',
});
let database: TestDatabase;

beforeAll(async () => {
  const ddl = `
    create table todo (id text primary key, text text, done boolean, tags jsonb, owner_id text not null,
      added timestamptz not null default now());
    create table entry (space text, key text, value jsonb not null, primary key (space, key));
    create schema other;
    create table other.counter (id integer primary key, n numeric)`;
  database = await createSynced(ddl, { todo: todoView });
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query('truncate todo, entry, other.counter'));

const todosOf = (user: string): KeyValueRows => ({
  table: 'todo',
  key: 'id',
  columns: ['id', 'text', 'done', 'tags'],
  where: { owner_id: user },
});

const transactionOf = (user: string) =>
  keyValue(database.pool, {
    'todo/': todosOf(user),
    'count/': { table: ['other', 'counter'], key: 'id', columns: ['n'] },
    'x/': { table: 'entry', key: 'key', value: 'value', where: { space: user } },
  });

type Todo = { id: string; text: string; done: boolean; tags?: string[] };

/** Written as in Replicache's classic samples. */
const clientMutators = {
  createTodo: (tx: WriteTransaction, todo: Todo) => tx.set(`todo/${todo.id}`, todo),
  async updateTodo(tx: WriteTransaction, { id, ...changes }: Partial<Todo> & { id: string }) {
    await tx.set(`todo/${id}`, { ...(await tx.get<Todo>(`todo/${id}`)), ...changes });
  },
  async completeAll(tx: WriteTransaction) {
    for await (const [key, todo] of tx.scan<Todo>({ prefix: 'todo/' }).entries()) {
      await tx.set(key, { ...todo, done: true });
    }
  },
  deleteTodo: async (tx: WriteTransaction, id: string) => void (await tx.del(`todo/${id}`)),
};

describe('the mutators of the client', () => {
  it('have the same effect on the server as in the client, on the rows of their user', async () => {
    const mutators = defineMutators(
      Object.fromEntries(
        Object.entries(clientMutators).map(([name, run]) => [
          name,
          defineMutator(async ({ tx, args, ctx }) => {
            await run(keyValue(tx, { 'todo/': todosOf(ctx.userID) }), args as never);
          }),
        ]),
      ),
    );
    const sync = await createSync({
      database: database.url,
      views: { todo: todoView },
      mutators,
      authenticate: () => ({ userID: 'ann' }),
      log: silent,
    });
    onTestFinished(() => sync.close());
    await database.pool.query("insert into todo (id, text, done, owner_id) values ('of ben', 'Ben''s', false, 'ben')");
    const client = new Replicache({ name: randomUUID(), kvStore: 'mem', pullInterval: null, mutators: clientMutators });
    onTestFinished(() => client.close());
    const calls: [name: keyof typeof clientMutators, args: unknown][] = [
      ['createTodo', { id: 'a', text: 'A', done: false, tags: ['x'] }],
      ['createTodo', { id: 'b', text: 'B', done: false }],
      ['createTodo', { id: 'ü/1', text: 'Ü', done: false }],
      ['updateTodo', { id: 'a', text: 'AA' }],
      ['completeAll', null],
      ['deleteTodo', 'b'],
      ['deleteTodo', 'of ben'],
    ];
    const mutations = calls.map(([name, args], i) => ({ clientID: 'c', id: i + 1, name, args, timestamp: 0 }));
    for (const [name, args] of calls) await client.mutate[name](args as never);
    const post = async (path: string, more: object) => {
      const body = JSON.stringify({ clientGroupID: 'g', profileID: 'p', schemaVersion: '', ...more });
      const headers = { 'Content-Type': 'application/json' };
      return (await sync.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers, body }))).json();
    };
    expect(await post('/sync/push', { pushVersion: 1, mutations })).toEqual({});
    const { patch } = (await post('/sync/pull', { pullVersion: 1, cookie: null })) as { patch: Op[] };
    const pulled = Object.fromEntries(patch.map(({ key, value }) => [key, withoutNulls(value)]));
    const clientEntries = Object.fromEntries(await client.query((tx) => tx.scan().entries().toArray()));
    expect(pulled).toEqual(clientEntries);
    expect(Object.keys(pulled)).toEqual(['todo/a', 'todo/ü/1']);
    const { rows } = await database.pool.query("select done from todo where id = 'of ben'");
    expect(rows).toEqual([{ done: false }]);
  });
});

interface Op {
  readonly key: string;
  readonly value: object;
}

const withoutNulls = (value: object) => Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));

type Step =
  | { readonly do: 'set'; readonly key: string; readonly value: JSONValue }
  | { readonly do: 'get' | 'has' | 'del'; readonly key: string }
  | { readonly do: 'isEmpty' }
  | { readonly do: 'scan'; readonly options: object };

async function take(tx: WriteTransaction, steps: readonly Step[]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const step of steps) {
    if (step.do === 'set') results.push((await tx.set(step.key, step.value)) ?? null);
    else if (step.do === 'scan') {
      const scan = () => tx.scan(step.options);
      const values: unknown[] = [];
      for await (const value of scan()) values.push(value);
      results.push([await scan().entries().toArray(), await scan().keys().toArray(), values]);
    } else if (step.do === 'isEmpty') results.push(await tx.isEmpty());
    else results.push((await tx[step.do](step.key)) ?? null);
  }
  return results;
}

it('a key-value transaction answers any sequence of operations as the client does', async () => {
  const key = fc.constantFrom('x/', 'x/a', 'x/a/b', 'x/aa', 'x/b', 'x/%', 'x/é', 'x/😀', 'x/\uff5e', "x/'");
  const start = fc.record({ key, exclusive: fc.boolean() }, { requiredKeys: ['key'] });
  const prefix = fc.constantFrom('', 'x', 'x/', 'x/a', 'x/%', 'y');
  const options = fc.record({ prefix, start, limit: fc.integer({ min: 1, max: 4 }) }, { requiredKeys: [] });
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      do: fc.constant('set' as const),
      key,
      value: fc.constantFrom<JSONValue>(null, 0, '', [1], { a: null }),
    }),
    fc.record({ do: fc.constantFrom('get' as const, 'has' as const, 'del' as const), key }),
    fc.record({ do: fc.constant('scan' as const), options }),
    fc.constant({ do: 'isEmpty' as const }),
  );
  const check = async (steps: readonly Step[]) => {
    let expected: unknown;
    const mutators = {
      async take(tx: WriteTransaction) {
        expected = await take(tx, steps);
      },
    };
    const client = new Replicache({ name: randomUUID(), kvStore: 'mem', pullInterval: null, mutators });
    try {
      await client.mutate.take();
      await database.pool.query("truncate entry; insert into entry values ('ben', 'a', '1')");
      expect(await take(transactionOf('ann'), steps)).toEqual(expected);
    } finally {
      await client.close();
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), check), { numRuns: 40 });
});

describe('rows', () => {
  const todos = async () => (await database.pool.query('select id, text, done, owner_id from todo order by id')).rows;

  it('lose the fields that a value lacks, and keep columns that are not fields', async () => {
    const tx = transactionOf('ann');
    await tx.set('todo/a', { id: 'a', text: 'A', done: true });
    await database.pool.query("update todo set added = '2020-01-01T00:00:00Z'");
    await tx.set('todo/a', { id: 'a', text: 'AA' });
    expect(await todos()).toEqual([{ id: 'a', text: 'AA', done: null, owner_id: 'ann' }]);
    expect(await tx.get('todo/a')).toEqual({ id: 'a', text: 'AA', done: null, tags: null });
    const { rows } = await database.pool.query('select added from todo');
    expect(rows[0].added.getUTCFullYear()).toBe(2020);
  });

  it('of other users are neither visible nor writable', async () => {
    await transactionOf('ben').set('todo/a', { text: 'B' });
    const tx = transactionOf('ann');
    expect([await tx.get('todo/a'), await tx.has('todo/a'), await tx.del('todo/a'), await tx.isEmpty()]).toEqual([
      undefined,
      false,
      false,
      true,
    ]);
    await expect(tx.set('todo/a', { text: 'A' })).rejects.toMatchObject({ code: '23505' });
    await expect(tx.set('todo/b', { text: 'A', owner_id: 'ben' })).rejects.toThrow('"owner_id", which is not among');
    expect(await todos()).toEqual([{ id: 'a', text: 'B', done: null, owner_id: 'ben' }]);
  });

  it('belong to their user, even if a value names another', async () => {
    const rows = { ...todosOf('ann'), columns: ['id', 'owner_id'] };
    await keyValue(database.pool, { 'todo/': rows }).set('todo/c', { id: 'c', owner_id: 'ben' });
    expect(await todos()).toEqual([{ id: 'c', text: null, done: null, owner_id: 'ann' }]);
  });

  it('may be in another schema, and have keys that are not text', async () => {
    const tx = transactionOf('ann');
    await tx.set('count/10', { n: 1.5 });
    await tx.set('count/9', { n: 2 });
    expect(await tx.scan({ prefix: 'count/' }).entries().toArray()).toEqual([
      ['count/10', { n: 1.5 }],
      ['count/9', { n: 2 }],
    ]);
    expect(await tx.del('count/10')).toBe(true);
    expect(await tx.scan({ prefix: 'count/1' }).toArray()).toEqual([]);
  });

  it.each<[why: string, work: (tx: KeyValueTransaction) => unknown, message: string]>([
    ['a key without a table', (tx) => tx.get('list/a'), 'none of the prefixes'],
    ['a value that is not an object', (tx) => tx.set('todo/a', ['a']), 'each must be an object'],
    ['a field without a column', (tx) => tx.set('todo/a', { 'id"; drop table todo': 1 }), 'not among the columns'],
    ['a value with another key', (tx) => tx.set('todo/a', { id: 'b' }), 'another "id" than its key'],
    ['a scan by an index', (tx) => tx.scan({ indexName: 'byText' }).toArray(), 'index are not served'],
  ])('are neither read nor written for %s', async (_, work, message) => {
    await expect(async () => work(transactionOf('ann'))).rejects.toThrow(message);
    expect(await todos()).toEqual([]);
  });

  it('must not have overlapping prefixes', () => {
    const rows: KeyValueRows = { table: 'entry', key: 'key', value: 'value' };
    expect(() => keyValue(database.pool, { 'a/': rows, b: rows, 'a/b/': rows })).toThrow(SetupError);
    expect(() => keyValue(database.pool, { 'a/': rows, b: rows, 'ab/': rows })).not.toThrow();
  });
});
