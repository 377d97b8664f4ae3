/**
 * Values that are hard to store: in names, args and rows. A value that cannot be stored fails permanently and is
 * reported. Every other value comes back equal.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { views } from '../../support/whole-views.js';
import { startServer, type TestServer } from './server.js';
import { type JSONObject, mutation, pull, push, pushBody, send } from './wire.js';

const amount = defineView({
  query: () => sql<{ id: string; whole: number | string; exact: number | string }>`select id, whole, exact from amount`,
  key: 'id',
});

let server: TestServer;
let group = 0;
let clientGroupID: string;
let clientID: string;

beforeAll(async () => {
  server = await startServer({
    views: { ...views, amount },
    setup: 'create table amount (id text primary key, whole bigint, exact numeric)',
  });
});

afterAll(() => server.close());

beforeEach(async () => {
  await server.pool.query('delete from todo; delete from list; delete from amount');
  await server.pool.query("insert into list (id, owner_id, name) values ('l', 'ann', 'Groceries')");
  clientGroupID = `group ${++group}`;
  clientID = `client ${group}`;
});

afterEach(async () => {
  expect((await send(server, '/healthz', undefined, { method: 'GET' })).status).toBe(200);
});

const pushed = (mutations: [name: string, args: unknown][]) =>
  push(
    server,
    'ann',
    mutations.map(([name, args], i) => mutation(i + 1, name, args, clientID)),
    { clientGroupID },
  );

async function lastMutationID(): Promise<number> {
  const { rows } = await server.pool.query('select last_mutation_id from tidemark.client where id = $1', [clientID]);
  return Number(rows[0]?.last_mutation_id ?? 0);
}

/** The log entries of permanently failed mutations, by mutation ID. */
const failures = () =>
  server.lines
    .filter(({ level, fields }) => level === 'error' && fields.clientID === clientID)
    .map(({ fields }) => fields.mutationID);

const todo = (id: string, title: string): [string, JSONObject] => ['todo.create', { id, listID: 'l', title, sort: 1 }];

async function todosPulled(): Promise<{ [key: string]: unknown }> {
  const { patch } = await pull(server, 'ann', { clientGroupID });
  return Object.fromEntries(
    patch.flatMap((op) => (op.op === 'put' && op.key.startsWith('todo/') ? [[op.key, op.value]] : [])),
  );
}

describe('a mutation with', () => {
  const bad: [string, string, unknown][] = [
    ['U+0000 in a string', 'todo.create', { id: 'p', listID: 'l', title: 'a\u0000b', sort: 1 }],
    ['U+0000 in an ID', 'todo.create', { id: '\u0000', listID: 'l', title: '', sort: 1 }],
    ['a lone surrogate in a string', 'todo.create', { id: 'p', listID: 'l', title: '\ud83d', sort: 1 }],
    ['a lone surrogate in a key', 'todo.create', { id: 'p', listID: 'l', title: '', sort: 1, '\udc00': 1 }],
    ['a wrong type', 'todo.create', { id: 'p', listID: 'l', title: ['x'], sort: 1 }],
    ['a missing arg', 'todo.create', { id: 'p', listID: 'l', sort: 1 }],
    ['null as args', 'todo.create', null],
    ['an array as args', 'todo.create', []],
    ['an unknown mutator', 'todo.destroy', {}],
    ['an empty name', '', {}],
    ['the name __proto__', '__proto__', {}],
    ['the name constructor', 'constructor', {}],
    ['the name toString', 'toString', {}],
    ['a namespace as its name', 'todo', {}],
    ['U+0000 as its name', '\u0000', {}],
    ['a lone surrogate as its name', '\ud800', {}],
    ['a very long name', 'x'.repeat(100_000), {}],
  ];

  it.each(bad)('%s fails permanently, and later mutations continue', async (_, name, args) => {
    const answer = await pushed([todo('before', 'Milk'), [name, args], todo('after', 'Bread')]);
    expect(answer).toMatchObject({ status: 200, text: '{}' });
    expect(await lastMutationID()).toBe(3);
    expect(Object.keys(await todosPulled()).sort()).toEqual(['todo/after', 'todo/before']);
    expect(failures()).toEqual([2]);
  });

  it('arrays nested 100,000 deep, as args or in a key of args, fails permanently', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (const args of [deep, `{"id":"p","listID":"l","title":"","sort":1,"more":${deep}}`]) {
      clientID += '+';
      const body = JSON.stringify(pushBody([mutation(1, 'todo.create', 'ARGS', clientID)], { clientGroupID }));
      const answer = await send(server, '/sync/push', body.replace('"ARGS"', args));
      expect(answer).toMatchObject({ status: 200, text: '{}' });
      expect(await lastMutationID()).toBe(1);
      expect(failures()).toEqual([1]);
    }
    expect(await todosPulled()).toEqual({});
  });
});

describe('a number', () => {
  const sortOf = (token: string) =>
    JSON.stringify(pushBody([mutation(1, ...todo('t', ''), clientID)], { clientGroupID })).replace(
      '"sort":1}',
      `"sort":${token}}`,
    );

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '0.1234567890123456789',
    '123456789012345678901234567890',
  ])('of %s in args, which would lose digits, is refused with 400', async (token) => {
    const answer = await send(server, '/sync/push', sortOf(token));
    expect(answer).toMatchObject({ status: 400, body: { code: 'malformed-request' } });
    expect(answer.body.detail).toMatch(/digits that a double cannot hold/);
    expect(await lastMutationID()).toBe(0);
    expect(await todosPulled()).toEqual({});
  });

  it.each(['9007199254740991', '0', '1e21', '1.7976931348623157e308', '5e-324', '0.1', '9007199254740994'])(
    'of %s in args comes back unchanged',
    async (token) => {
      expect(await send(server, '/sync/push', sortOf(token))).toMatchObject({ status: 200, text: '{}' });
      expect(await todosPulled()).toMatchObject({ 'todo/t': { sort: Number(token) } });
    },
  );

  it.each([
    ['0', 0],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991', -9007199254740991],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ])('of %s in a bigint column arrives exactly, in a first pull and in a delta', async (stored, arrives) => {
    const { cookie } = await pull(server, 'ann', { clientGroupID });
    await server.pool.query("insert into amount values ('n', $1, 0)", [stored]);
    const put = { op: 'put', key: 'amount/n', value: { id: 'n', whole: arrives } };
    for (const base of [null, cookie]) {
      const { patch } = await pull(server, 'ann', { clientGroupID, cookie: base });
      expect(patch).toContainEqual(expect.objectContaining({ ...put, value: expect.objectContaining(put.value) }));
    }
  });

  it.each(['0.1', '12345678901234567890.123456789', '1e-30', 'NaN', 'Infinity', '1e500'])(
    'of %s in a numeric column keeps every digit',
    async (stored) => {
      await server.pool.query("insert into amount values ('n', 0, $1)", [stored]);
      const { rows } = await server.pool.query('select exact::text from amount');
      const { patch } = await pull(server, 'ann', { clientGroupID });
      const [put] = patch.filter((op) => op.op === 'put' && op.key === 'amount/n') as unknown as [
        { value: { exact: unknown } },
      ];
      const { exact } = put.value;
      if (typeof exact === 'number') expect(exact).toBe(Number(rows[0].exact));
      else expect(exact).toBe(rows[0].exact);
      expect(typeof exact).toBe(stored === '0.1' || stored === '1e-30' ? 'number' : 'string');
    },
  );
});

describe('strings', () => {
  const names = [
    '__proto__',
    'constructor',
    'toString',
    'a/b',
    '%2F',
    ' ',
    'ключ',
    '🔑',
    "'; drop table todo; --",
    '\\',
  ];
  it.each(names)('such as %j are valid IDs', async (id) => {
    await pushed([todo(id, 'Milk'), ['todo.update', { id, done: true }]]);
    const { patch } = await pull(server, 'ann', { clientGroupID });
    const value = { id, listID: 'l', title: 'Milk', done: true, sort: 1 };
    expect(patch.filter((op) => op.op === 'put' && op.key.startsWith('todo/'))).toEqual([
      { op: 'put', key: `todo/${id}`, value },
    ]);
  });

  const titles = [
    '',
    ' leading and trailing ',
    '"quotes" \'and\' `ticks`',
    'back\\slash \\n \\u0041 \\',
    'line\nbreak\r\nand\ttab',
    'all of ASCII: \u0001\u0002\u0003\u0007\b\v\f\u001b\u001f\u007f',
    'C1: \u0080\u0085\u009f',
    'line separators: \u2028\u2029',
    'no-break\u00a0space, zero\u200bwidth, BOM \ufeff',
    'RTL: \u202eשלום\u202c مرحبا',
    'emoji: 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪',
    'astral: 𝒳𝒴𝒵 𐀀 \u{10ffff}',
    'combining: é é Z͑ͫ̓ͪ̂ͫ̽͏',
    'non-characters: \ufffe\uffff\ufffd',
    '<script>alert(1)</script> &amp; $x %s {{x}}',
    "'; drop table todo; -- $1 $$ \\.",
    'null',
    'a,b\u0001c\u0002d',
    'ß ẞ İ ı ﬁ',
    'x'.repeat(1000),
  ];
  it('that are hard to store come back equal, in a first pull and in a delta', async () => {
    const { cookie } = await pull(server, 'ann', { clientGroupID });
    expect(await pushed(titles.map((title, i) => todo(`t${i}`, title)))).toMatchObject({ status: 200, text: '{}' });
    expect(failures()).toEqual([]);
    for (const base of [null, cookie]) {
      const { patch } = await pull(server, 'ann', { clientGroupID, cookie: base });
      const found = patch.flatMap((op) =>
        op.op === 'put' && op.key.startsWith('todo/') ? [op.value as { id: string; title: string }] : [],
      );
      const inOrder = found.sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
      expect(inOrder.map(({ title }) => title)).toEqual(titles);
    }
  });

  it('such as __proto__, as keys of args, pollute nothing and are not read as args', async () => {
    const args = '{"__proto__":{"title":"inherited"},"id":"t","listID":"l","sort":1}';
    const body = JSON.stringify(pushBody([mutation(1, 'todo.create', 'ARGS', clientID)], { clientGroupID }));
    await send(server, '/sync/push', body.replace('"ARGS"', args));
    expect(failures()).toEqual([1]);
    expect(({} as JSONObject).title).toBeUndefined();
    expect(await todosPulled()).toEqual({});
  });
});
