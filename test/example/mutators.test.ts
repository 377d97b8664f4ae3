import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authenticate } from '../../examples/tasks/src/auth.js';
import { mutators } from '../../examples/tasks/src/mutators.js';
import { createSchema } from '../../examples/tasks/src/schema.js';
import { seed } from '../../examples/tasks/src/seed.js';
import { views } from '../../examples/tasks/src/views.js';
import { migrate } from '../../src/migrate.js';
import { createSync, type Sync } from '../../src/server.js';
import { createEmptyDatabase, type TestDatabase } from '../database.js';
import { memoryLog } from '../log.js';

let database: TestDatabase;
let sync: Sync;
const { log, lines } = memoryLog();

beforeAll(async () => {
  database = await createEmptyDatabase();
  await createSchema(database.pool);
  await migrate({ database: database.pool, views });
  sync = await createSync({ database: database.pool, views, mutators, authenticate, log });
});
afterAll(async () => {
  await sync.close();
  await database.drop();
});

/** Ann owns `l`, which is shared with Ben and holds `t`. Cam has `c`, and no part in the other. */
beforeEach(async () => {
  await database.pool.query(`
    delete from list;
    insert into list (id, owner_id, name) values ('l', 'ann', 'List'), ('c', 'cam', 'Cam''s');
    insert into share (list_id, user_id) values ('l', 'ben');
    insert into todo (id, list_id, title, sort) values ('t', 'l', 'Todo', 1);`);
  lines.length = 0;
});

let groups = 0;

/** Pushes one mutation from a new client, and says what was logged when it failed. */
async function push(user: string, name: string, args: object): Promise<'applied' | string> {
  const clientGroupID = `g${++groups}`;
  const mutation = { id: 1, clientID: `${clientGroupID}-client`, name, args, timestamp: 1 };
  const body = { pushVersion: 1, schemaVersion: '', profileID: 'p', clientGroupID, mutations: [mutation] };
  const response = await post(user, 'push', body);
  expect(response.status).toBe(200);
  const failure = lines.find(({ level }) => level === 'error');
  if (!failure) return 'applied';
  const { name: error, message } = failure.fields.error as { name: string; message: string };
  return `${error}: ${message}`;
}

function post(user: string, path: string, body: object): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${user}` };
  return sync.fetch(
    new Request(`http://localhost/sync/${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  );
}

async function keysOf(user: string): Promise<string[]> {
  const body = { pullVersion: 1, schemaVersion: '', profileID: 'p', clientGroupID: `pull-${user}`, cookie: null };
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
});

describe('list.create', () => {
  it('gives the caller a list', async () => {
    expect(await push('dee', 'list.create', { id: 'd', name: '  Mine ' })).toBe('applied');
    expect(await stored(`select owner_id, name from list where id = 'd'`)).toEqual([['dee', 'Mine']]);
  });

  it("does not take over another user's list", async () => {
    expect(await push('cam', 'list.create', { id: 'l', name: 'Mine' })).toMatch(/duplicate key/);
    expect(await stored(`select owner_id, name from list where id = 'l'`)).toEqual([['ann', 'List']]);
  });
});

describe('list.delete', () => {
  it('deletes the list with its todos and shares, for its owner', async () => {
    expect(await push('ann', 'list.delete', { id: 'l' })).toBe('applied');
    expect(await stored('select id from list')).toEqual([['c']]);
    expect(await stored('select 1 from todo union all select 2 from share')).toEqual([]);
  });

  it.each(['ben', 'cam'])('is refused to %s', async (user) => {
    expect(await push(user, 'list.delete', { id: 'l' })).toMatch(/^NotAllowedError/);
    expect(await stored(`select 1 from list where id = 'l'`)).toHaveLength(1);
  });
});

describe('list.share and list.unshare', () => {
  it('let another user in and out again', async () => {
    expect(await push('ann', 'list.share', { listID: 'l', userID: 'cam' })).toBe('applied');
    expect(await push('ann', 'list.share', { listID: 'l', userID: 'cam' })).toBe('applied');
    expect(await keysOf('cam')).toEqual(['list/c', 'list/l', 'share/l/ben', 'share/l/cam', 'todo/t']);
    expect(await push('ann', 'list.unshare', { listID: 'l', userID: 'cam' })).toBe('applied');
    expect(await keysOf('cam')).toEqual(['list/c']);
  });

  it.each(['ben', 'cam'])('are refused to %s', async (user) => {
    expect(await push(user, 'list.share', { listID: 'l', userID: 'cam' })).toMatch(/^NotAllowedError/);
    lines.length = 0;
    expect(await push(user, 'list.unshare', { listID: 'l', userID: 'ben' })).toMatch(/^NotAllowedError/);
    expect(await stored('select list_id, user_id from share')).toEqual([['l', 'ben']]);
  });
});

describe('list.fill', () => {
  it('adds todos after those that are there, as often as it is called', async () => {
    expect(await push('ann', 'list.fill', { listID: 'l', count: 2 })).toBe('applied');
    expect(await push('ann', 'list.fill', { listID: 'l', count: 1 })).toBe('applied');
    expect(await stored('select title, done, sort from todo order by sort')).toEqual([
      ['Todo', false, 1],
      ['Todo 1', false, 2],
      ['Todo 2', false, 3],
      ['Todo 1', false, 4],
    ]);
    expect((await keysOf('ben')).filter((key) => key.startsWith('todo/'))).toHaveLength(4);
  });

  it('starts an empty list, in the order of its IDs', async () => {
    expect(await push('cam', 'list.fill', { listID: 'c', count: 10_000 })).toBe('applied');
    expect(await stored(`select count(*)::int, min(sort), max(sort) from todo where list_id = 'c'`)).toEqual([
      [10_000, 1, 10_000],
    ]);
    expect(await stored(`select sort from todo where list_id = 'c' order by id collate "C" limit 3`)).toEqual([
      [1],
      [2],
      [3],
    ]);
  });

  it.each(['ben', 'cam'])('is refused to %s', async (user) => {
    expect(await push(user, 'list.fill', { listID: 'l', count: 2 })).toMatch(/^NotAllowedError/);
    expect(await stored(todos)).toEqual(before);
  });
});

describe('the mutators of todos', () => {
  it.each(['ann', 'ben'])('are open to %s', async (user) => {
    expect(await push(user, 'todo.create', { id: 'u', listID: 'l', title: 'New', sort: 0.5 })).toBe('applied');
    expect(await push(user, 'todo.update', { id: 't', done: true })).toBe('applied');
    expect(await push(user, 'todo.update', { id: 'u', title: 'Newer', sort: -2 })).toBe('applied');
    expect(await stored(todos)).toEqual([
      ['t', 'l', 'Todo', true, 1],
      ['u', 'l', 'Newer', false, -2],
    ]);
    expect(await push(user, 'todo.delete', { id: 't' })).toBe('applied');
    expect(await push(user, 'todo.delete', { id: 'u' })).toBe('applied');
    expect(await stored(todos)).toEqual([]);
  });

  it.each([
    ['todo.create', { id: 'u', listID: 'l', title: 'New', sort: 1 }],
    ['todo.update', { id: 't', title: 'Taken' }],
    ['todo.delete', { id: 't' }],
  ])('are refused to strangers: %s', async (name, args) => {
    expect(await push('cam', name, args)).toMatch(/^NotAllowedError/);
    expect(await stored(todos)).toEqual(before);
  });

  it.each([
    ['todo.create', { id: 'u', listID: 'none', title: 'New', sort: 1 }],
    ['todo.create', { id: 't', listID: 'l', title: 'Again', sort: 1 }],
    ['todo.update', { id: 'none', done: true }],
    ['todo.delete', { id: 'none' }],
  ])('change nothing where there is nothing: %s %j', async (name, args) => {
    expect(await push('ann', name, args)).toMatch(/^NotAllowedError|duplicate key/);
    expect(await stored(todos)).toEqual(before);
  });

  it('end with the share', async () => {
    expect(await push('ann', 'list.unshare', { listID: 'l', userID: 'ben' })).toBe('applied');
    expect(await push('ben', 'todo.delete', { id: 't' })).toMatch(/^NotAllowedError/);
  });
});

describe('the args', () => {
  it.each([
    ['list.create', { id: '', name: 'x' }],
    ['list.create', { id: 'x', name: ' ' }],
    ['list.create', { id: 'x'.repeat(101), name: 'x' }],
    ['list.share', { listID: 'l', userID: 'Not a name' }],
    ['list.fill', { listID: 'l', count: 0 }],
    ['list.fill', { listID: 'l', count: 10_001 }],
    ['list.fill', { listID: 'l', count: 1.5 }],
    ['todo.create', { id: 'u', listID: 'l', title: 'x', sort: '1' }],
    ['todo.update', { id: 't', done: 'yes' }],
    ['todo.update', { id: 't', title: null }],
    ['todo.delete', {}],
  ])('are checked: %s %j', async (name, args) => {
    expect(await push('ann', name, args)).not.toBe('applied');
    expect(await stored(todos)).toEqual(before);
  });

  it('come with documentation', () => {
    for (const mutator of mutators.values()) {
      expect(mutator.summary).toBeTruthy();
      expect(mutator.description).toBeTruthy();
    }
  });
});

describe('the demo authentication', () => {
  const user = (authorization?: string) =>
    authenticate(new Request('http://localhost/', authorization === undefined ? {} : { headers: { authorization } }));

  it('believes a name', () => {
    expect(user('Bearer ann')).toEqual({ userID: 'ann' });
    expect(user('bearer a-b_9')).toEqual({ userID: 'a-b_9' });
  });

  it.each([undefined, '', 'ann', 'Basic ann', 'Bearer', 'Bearer  ann', 'Bearer ann ben', 'Bearer Ann', 'Bearer 1x'])(
    'takes no %j',
    (authorization) => {
      expect(user(authorization)).toBeNull();
    },
  );

  it('takes no name of more than 32 characters', () => {
    expect(user(`Bearer ${'a'.repeat(32)}`)).not.toBeNull();
    expect(user(`Bearer ${'a'.repeat(33)}`)).toBeNull();
  });
});

describe('the demo data', () => {
  it('are some hundred todos, filled in once', async () => {
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
    for (const name of ['ann', 'ben', 'cam']) expect((await keysOf(name)).length).toBeGreaterThan(50);
  });
});
