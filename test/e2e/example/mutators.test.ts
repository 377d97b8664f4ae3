import type { PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import { seed } from '../../../examples/tasks/src/seed.js';
import { views } from '../../../examples/tasks/src/views.js';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { createTransact, type Transact } from '../../../packages/tidemark/src/db/transact.js';
import { MutatorError } from '../../../packages/tidemark/src/errors.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { validate } from '../../../packages/tidemark/src/registry/prepare.js';
import { createSync, type TypedSync } from '../../../packages/tidemark/src/server.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';

let database: TestDatabase;
let sync: TypedSync<UserContext, typeof mutators, typeof views>;
let transact: Transact<PoolClient>;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await createSchema(database.pool);
  await migrate({ database: database.pool, views, log: silent });
  transact = createTransact(database.pool);
  const { log } = memoryLog();
  sync = await createSync({ database: database.pool, views, mutators, authenticate, log });
});
afterAll(async () => {
  await sync.close();
  await database.drop();
});

/** Ann owns `l`, which is shared with Ben and holds `t`. Cam owns `c`, and has no access to the other list. */
beforeEach(async () => {
  await database.pool.query(`
    delete from list;
    insert into list (id, owner_id, name) values ('l', 'ann', 'List'), ('c', 'cam', 'Cam''s');
    insert into share (list_id, user_id) values ('l', 'ben');
    insert into todo (id, list_id, title, sort) values ('t', 'l', 'Todo', 1);`);
});

/** Calls a mutator in a transaction. Returns its result, if any, or the status of its refusal. */
async function call(user: string, name: string, args: object): Promise<unknown> {
  const outcome = await attempt(user, name, args);
  return outcome instanceof MutatorError ? outcome.status : (outcome ?? 'done');
}

/** The message of a refused call. */
async function refusalOf(
  user: string,
  name: string,
  args: object,
): Promise<Pick<MutatorError, 'message' | 'status' | 'details'>> {
  const { message, status, details } = (await attempt(user, name, args)) as MutatorError;
  return { message, status, details };
}

async function attempt(user: string, name: string, args: object): Promise<unknown> {
  const { validator, run } = mutators.get(name)!;
  const valid = await validate(validator, args);
  try {
    return await transact(async (tx) => run({ tx, args: valid, ctx: { userID: user } }));
  } catch (error) {
    if (error instanceof MutatorError) return error;
    throw error;
  }
}

function post(user: string, path: string, body: object): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${user}` };
  return sync.fetch(
    new Request(`http://localhost/sync/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  );
}

/** The keys of what a user sees, with the todos of these lists. */
async function keysOf(user: string, lists: readonly string[] = ['l', 'c']): Promise<string[]> {
  const wants = lists.map((listID) => ({ view: 'todo', args: { listID } }));
  const ids = { profileID: 'p', clientGroupID: `pull-${user}` };
  const body = { pullVersion: 1, schemaVersion: '', ...ids, cookie: null, wants };
  const { patch } = (await (await post(user, 'pull', body)).json()) as { patch: { key: string }[] };
  return patch.map(({ key }) => key).sort();
}

async function stored(sql: string): Promise<unknown[]> {
  return (await database.pool.query({ text: sql, rowMode: 'array' })).rows;
}

const todos = 'select id, list_id, title, done, sort from todo order by id';
const before = [['t', 'l', 'Todo', false, 1]];

describe('the views', () => {
  it("show a user's own lists and those shared with them, with their todos and shares", async () => {
    expect(await keysOf('ann')).toEqual(['list/l', 'share/l/ben', 'todo/t']);
    expect(await keysOf('ben')).toEqual(['list/l', 'share/l/ben', 'todo/t']);
    expect(await keysOf('cam')).toEqual(['list/c']);
    expect(await keysOf('dee')).toEqual([]);
  });

  it('show the todos of a list only to clients that want them', async () => {
    expect(await keysOf('ann', [])).toEqual(['list/l', 'share/l/ben']);
    expect(await keysOf('ann', ['c'])).toEqual(['list/l', 'share/l/ben']);
  });

  it('count the todos of a list that are not done', async () => {
    const open = async () => (await sync.as({ userID: 'ben' }).view('list').row('l'))?.open;
    expect(await open()).toBe(1);
    await call('ben', 'todo.update', { id: 't', done: true });
    expect(await open()).toBe(0);
  });
});

describe('list.create', () => {
  it('creates a list of the caller', async () => {
    expect(await call('dee', 'list.create', { id: 'd', name: '  Mine ' })).toBe('done');
    expect(await stored(`select owner_id, name from list where id = 'd'`)).toEqual([['dee', 'Mine']]);
  });

  it.each(['ann', 'ben', 'cam'])('refuses the ID of an existing list to %s with 409', async (user) => {
    expect(await call(user, 'list.create', { id: 'l', name: 'Mine' })).toBe(409);
    expect(await stored(`select owner_id, name from list where id = 'l'`)).toEqual([['ann', 'List']]);
  });
});

describe('list.delete', () => {
  it('lets the owner delete the list with its todos and shares', async () => {
    expect(await call('ann', 'list.delete', { id: 'l' })).toBe('done');
    expect(await stored('select id from list')).toEqual([['c']]);
    expect(await stored('select 1 from todo union all select 2 from share')).toEqual([]);
  });
});

describe('list.share and list.unshare', () => {
  it('give another user access and remove it, and can be repeated', async () => {
    const args = { listID: 'l', userID: 'cam' };
    for (let i = 0; i < 2; i++) expect(await call('ann', 'list.share', args)).toBe('done');
    expect(await keysOf('cam')).toEqual(['list/c', 'list/l', 'share/l/ben', 'share/l/cam', 'todo/t']);
    for (let i = 0; i < 2; i++) expect(await call('ann', 'list.unshare', args)).toBe('done');
    expect(await keysOf('cam')).toEqual(['list/c']);
  });

  it('refuse to share a list with its owner', async () => {
    expect(await call('ann', 'list.share', { listID: 'l', userID: 'ann' })).toBe(400);
    expect(await stored('select list_id, user_id from share')).toEqual([['l', 'ben']]);
  });
});

describe('list.fill', () => {
  it('adds todos after the existing ones each time it is called', async () => {
    expect(await call('ann', 'list.fill', { listID: 'l', count: 2 })).toEqual({ added: 2 });
    expect(await call('ann', 'list.fill', { listID: 'l', count: 1 })).toEqual({ added: 1 });
    expect(await stored('select title, done, sort from todo order by sort')).toEqual([
      ['Todo', false, 1],
      ['Todo 1', false, 2],
      ['Todo 2', false, 3],
      ['Todo 1', false, 4],
    ]);
    expect((await keysOf('ben')).filter((key) => key.startsWith('todo/'))).toHaveLength(4);
  });

  it('fills an empty list with todos in the order of their IDs', async () => {
    expect(await call('cam', 'list.fill', { listID: 'c', count: 10_000 })).toEqual({ added: 10_000 });
    expect(await stored(`select count(*)::int, min(sort), max(sort) from todo where list_id = 'c'`)).toEqual([
      [10_000, 1, 10_000],
    ]);
    expect(await stored(`select sort from todo where list_id = 'c' order by id collate "C" limit 3`)).toEqual([
      [1],
      [2],
      [3],
    ]);
  });

  it.each([Number.MAX_VALUE, -Number.MAX_VALUE])('adds todos at finite positions after a todo at %d', async (sort) => {
    await database.pool.query('update todo set sort = $1', [sort]);
    expect(await call('ann', 'list.fill', { listID: 'l', count: 10_000 })).toEqual({ added: 10_000 });
    expect(await stored("select count(*)::int from todo where sort in ('infinity', '-infinity', 'nan')")).toEqual([
      [0],
    ]);
  });
});

describe('the mutators of todos', () => {
  it.each(['ann', 'ben'])('work for %s', async (user) => {
    expect(await call(user, 'todo.create', { id: 'u', listID: 'l', title: 'New', sort: 0.5 })).toBe('done');
    await call(user, 'todo.update', { id: 't', done: true });
    await call(user, 'todo.update', { id: 'u', title: 'Newer', sort: -2 });
    expect(await stored(todos)).toEqual([
      ['t', 'l', 'Todo', true, 1],
      ['u', 'l', 'Newer', false, -2],
    ]);
    expect(await call(user, 'todo.delete', { id: 't' })).toBe('done');
    expect(await call(user, 'todo.delete', { id: 'u' })).toBe('done');
    expect(await stored(todos)).toEqual([]);
  });

  it('return the todo after an update', async () => {
    const todo = { id: 't', listID: 'l', title: 'Todo', done: false, sort: 1 };
    expect(await call('ann', 'todo.update', { id: 't' })).toEqual(todo);
    expect(await call('ann', 'todo.update', { id: 't', title: '', done: true })).toEqual({
      ...todo,
      title: '',
      done: true,
    });
  });

  it.each([0, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53])(
    'store a sort of %d exactly',
    async (sort) => {
      expect(await call('ann', 'todo.update', { id: 't', sort })).toMatchObject({ sort });
      expect(await call('ann', 'todo.create', { id: 'u', listID: 'l', title: '', sort })).toBe('done');
      expect(await stored('select sort from todo')).toEqual([[sort], [sort]]);
    },
  );

  it('accept a sort of minus zero', async () => {
    expect(await call('ann', 'todo.update', { id: 't', sort: -0 })).toMatchObject({ sort: 0 });
  });

  it.each(['ann', 'ben'])('refuse the ID of an existing todo to %s with 409', async (user) => {
    expect(await call(user, 'todo.create', { id: 't', listID: 'l', title: 'Again', sort: 1 })).toBe(409);
    expect(await stored(todos)).toEqual(before);
  });

  it("refuse the ID of another user's todo with 409, and do not change it", async () => {
    expect(await call('cam', 'todo.create', { id: 't', listID: 'c', title: 'Mine', sort: 1 })).toBe(409);
    expect(await stored(todos)).toEqual(before);
  });

  it('refuse a user whose share has ended', async () => {
    expect(await call('ann', 'list.unshare', { listID: 'l', userID: 'ben' })).toBe('done');
    expect(await call('ben', 'todo.delete', { id: 't' })).toBe(404);
  });
});

describe('the longest IDs', () => {
  it('can be stored and found, although each character takes four bytes', async () => {
    const [id, listID, userID] = ['🔑'.repeat(100), '🗒'.repeat(100), 'a'.repeat(32)];
    expect(await call('dee', 'list.create', { id: listID, name: '🗒'.repeat(200) })).toBe('done');
    expect(await call('dee', 'list.share', { listID, userID })).toBe('done');
    expect(await call('dee', 'todo.create', { id, listID, title: '🔑'.repeat(1000), sort: 1 })).toBe('done');
    expect(await call(userID, 'todo.delete', { id })).toBe('done');
  });
});

type ArgsFor = readonly [name: string, (listID: string, todoID: string) => object];
const byAnyone: readonly ArgsFor[] = [
  ['todo.create', (listID) => ({ id: 'u', listID, title: 'New', sort: 1 })],
  ['todo.update', (_, id) => ({ id, title: 'Taken' })],
  ['todo.delete', (_, id) => ({ id })],
];
const byOwner: readonly ArgsFor[] = [
  ['list.delete', (id) => ({ id })],
  ['list.share', (listID) => ({ listID, userID: 'dee' })],
  ['list.unshare', (listID) => ({ listID, userID: 'ben' })],
  ['list.fill', (listID) => ({ listID, count: 2 })],
];
const everything = `
  select row(list)::text from list union all select row(share)::text from share union all select row(todo)::text from todo
  order by 1`;

describe('a refused call', () => {
  it.each([...byAnyone, ...byOwner])(
    'of %s changes nothing, and returns 404 whether the row is missing or inaccessible',
    async (name, argsFor) => {
      const unchanged = await stored(everything);
      const refusal = await refusalOf('ann', name, argsFor('none', 'none'));
      expect(refusal.status).toBe(404);
      expect(await refusalOf('cam', name, argsFor('l', 't'))).toEqual(refusal);
      expect(await stored(everything)).toEqual(unchanged);
    },
  );

  it.each(byOwner)(
    'of %s changes nothing, and returns 403 to users with whom the list is shared',
    async (name, argsFor) => {
      const unchanged = await stored(everything);
      expect(await call('ben', name, argsFor('l', 't'))).toBe(403);
      expect(await stored(everything)).toEqual(unchanged);
    },
  );
});

describe('simultaneous calls', () => {
  it('with the same new ID succeed once, and are otherwise refused with 409', async () => {
    const args = { id: 'u', listID: 'l', title: 'New', sort: 1 };
    for (const [name, each] of [
      ['todo.create', args],
      ['list.create', { id: 'd', name: 'New' }],
    ] as const) {
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => call('ann', name, each)));
      expect(outcomes.sort()).toEqual([409, 409, 409, 409, 'done']);
    }
  });

  it('that delete a list and write to it leave no todos, and fail only with 404', async () => {
    for (let i = 0; i < 10; i++) {
      await call('ann', 'list.create', { id: 'd', name: 'Short-lived' });
      const outcomes = await Promise.all([
        call('ann', 'todo.create', { id: 'u', listID: 'd', title: 'New', sort: 1 }),
        call('ann', 'list.delete', { id: 'd' }),
        call('ann', 'list.share', { listID: 'd', userID: 'ben' }),
        call('ann', 'list.fill', { listID: 'd', count: 3 }),
      ]);
      for (const outcome of outcomes) expect(['done', 404, { added: 3 }]).toContainEqual(outcome);
      expect(await stored("select 1 from todo where list_id = 'd'")).toEqual([]);
    }
  });
});

describe('the demo data', () => {
  it('consist of several hundred todos, and are inserted only once', async () => {
    const client = await database.pool.connect();
    try {
      expect(await seed(client)).toBe(false);
      await client.query('delete from list');
      expect(await seed(client)).toBe(true);
      expect(await seed(client)).toBe(false);
    } finally {
      client.release();
    }
    const [[count]] = (await stored('select count(*)::int from todo')) as [[number]];
    expect(count).toBeGreaterThan(200);
    expect(count).toBeLessThan(1000);
    const lists = (await stored('select id from list')).flat() as string[];
    for (const name of ['ann', 'ben', 'cam']) expect((await keysOf(name, lists)).length).toBeGreaterThan(50);
  });
});
