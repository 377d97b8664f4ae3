/** The row's own field finds the row through the client, over REST and on the command line, for every type of key. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type AnyViews,
  type Client,
  type ClientTransaction,
  createClient,
} from '../../../packages/client/src/index.js';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { toPathSegment } from '../../../packages/tidemark/src/protocol/path-segment.js';
import { identifier } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import { runHere } from '../cli/command-line.js';
import { startServer, type TestServer } from '../conformance/server.js';

const seed = Math.trunc(Math.random() * 2 ** 31);
const sample = <T>(arbitrary: fc.Arbitrary<T>) => fc.sample(arbitrary, { seed, numRuns: 12 }).map(String);

const words = sample(
  fc.string({ unit: fc.constantFrom('a', 'B', ' ', '/', '%', '~', '.', 'ü', '"', '\\', '\n', '?') }),
);
const texts = ['', '.', '..', '~', 'a/b', '%2F', '007', ...words];
const dates = ['2026-02-03', '0044-03-15 BC', '10000-01-01'];
const times = dates
  .flatMap((date) => [`${date} 00:00`, `${date} 04:05:06.7`])
  .map((time) => time.replace(/(.*) BC(.*)/, '$1$2 BC'));
const decimals = sample(
  fc.tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.nat(20)).map(([n, scale]) => `${n}e-${scale}`),
);
const doubles = sample(fc.double());

/** Sample texts for each type with a default order. Only these types can have unique keys. */
const types: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false'],
  bytea: ['', '\\xdeadbeef'],
  char: ['', 'a', '/'],
  int8: ['0', '-1', '9007199254740991', '9007199254740993', '-9223372036854775808'],
  int2: ['0', '-1', '007'],
  int4: ['0', '-1', '2147483647'],
  text: texts,
  oid: ['0', '4294967295'],
  tid: ['(0,1)'],
  float4: ['1.5', '-0', '1e7', '1e-7', '0.1', 'NaN', '-Infinity'],
  float8: ['1.5', '-0', '1e21', '1e23', '1e-7', 'NaN', 'Infinity', ...doubles],
  money: ['1.50', '-1234.5'],
  bpchar: texts.map((text) => text.trimEnd()),
  inet: ['10.0.0.1', '10.0.0.0/8', '::1'],
  macaddr: ['08:00:2b:01:02:03'],
  macaddr8: ['08:00:2b:01:02:03:04:05'],
  date: [...dates, 'infinity'],
  time: ['12:30', '12:30:15.5', '24:00'],
  timestamp: [...times, '-infinity'],
  timestamptz: [...times, 'infinity'],
  interval: ['1 day', '1 mon -3 days', '-00:00:01'],
  timetz: ['12:30:15.5+05:45', '00:00+00'],
  bit: ['1', '0'],
  varbit: ['', '101'],
  numeric: ['1.50', '1.0', '0', '1e21', '1e-7', '1e-400', 'NaN', '1234567890123456.00', ...decimals],
  name: ['a/b', ''],
  uuid: ['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'],
  pg_lsn: ['16/B374D848'],
  tsvector: ["'a':1 'b':2", ''],
  tsquery: ["'a' & !'b'"],
  xid8: ['18446744073709551615'],
};

/** Types with a default order that cannot form a key, and types that stand for many types. */
const others = ['oidvector', 'jsonb', 'record', 'anyarray', 'anyenum', 'anyrange', 'anymultirange'];

/** Further types, without an order of their own. */
const derived: typeof types = {
  'numeric(10, 2)': ['1.5', '-1', '0'],
  'character(4)': ['a', 'a b', ''],
  varchar: texts,
  cidr: ['10.0.0.0/8'],
  'bit(4)': ['1010'],
  mood: ['sad', 'a/b', ''],
  positive: ['1.50', '20.0'],
  caseless: ['A', 'b'],
  int4range: ['[1,3)', 'empty', '(,)'],
  numrange: ['[1.0,1.50)'],
  int4multirange: ['{[1,3),[5,7)}', '{}'],
};

const all = Object.entries({ ...types, ...derived });
const tableOf = (type: string) => identifier(`by ${type}`);
const sqlTypes: Readonly<Record<string, string>> = { char: '"char"', caseless: 'text collate caseless' };

const setup = `
  create collation caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create type mood as enum ('sad', 'a/b', '');
  create domain positive as numeric check (value > 0);
  create table pair (amount numeric(10, 2), code character(3), done boolean not null, primary key (amount, code));
  insert into pair values (1.5, '/', false), (20, 'a%', false);
  ${all.map(([type]) => `create table ${tableOf(type)} (k ${sqlTypes[type] ?? type} primary key);`).join('\n')}`;

const views: Views<UserContext> = {
  pair: defineView({ query: () => ({ text: 'select * from pair', values: [] }), key: ['amount', 'code'] }),
  ...Object.fromEntries(
    all.map(([type]) => [
      type,
      defineView({ query: () => ({ text: `select k from ${tableOf(type)}`, values: [] }), key: 'k' }),
    ]),
  ),
};

interface Pair {
  readonly amount: number;
  readonly code: string;
  readonly done: boolean;
}
type Row = { readonly k: string | number | boolean };

let server: TestServer;
let client: Client<unknown, AnyViews>;

beforeAll(async () => {
  server = await startServer({ views, setup });
  for (const [type, values] of all) {
    const cast = type === 'caseless' ? 'text' : (sqlTypes[type] ?? type);
    const text = `insert into ${tableOf(type)} select value::${cast} from unnest($1::text[]) value on conflict do nothing`;
    await server.pool.query(text, [values]);
  }
  client = createClient<unknown, AnyViews>({
    user: randomUUID(),
    url: server.url,
    auth: 'Bearer ann',
    kvStore: 'mem',
    mutators: {
      list: {
        create: async (tx: ClientTransaction<AnyViews>) => {
          const pairs = tx.view('pair');
          for (const { amount, code } of (await pairs.list()) as Pair[]) {
            await pairs.update([amount, code], { done: true });
          }
        },
      },
    } as never,
  });
  await vi.waitUntil(async () => (await client.view('pair').list()).length === 2, { timeout: 30_000 });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await client?.close();
  await server?.close();
});
beforeEach(() => {
  vi.stubEnv('TIDEMARK_URL', server.url);
  vi.stubEnv('TIDEMARK_TOKEN', 'ann');
});

it('the samples cover every type with a default order', async () => {
  const { rows } = await server.pool.query<{ name: string }>(`
    select opcintype::regtype::oid, typname as name from pg_opclass c join pg_am a on a.oid = opcmethod
    join pg_type t on t.oid = opcintype
    where opcdefault and amname = 'btree' and typnamespace = 'pg_catalog'::regnamespace`);
  expect([...Object.keys(types), ...others]).toEqual(expect.arrayContaining(rows.map(({ name }) => name)));
});

describe(`a key (seed ${seed})`, () => {
  it.each(all.map(([type]) => type))(
    'of the type %s finds its row in the client, over REST and on the command line',
    async (type) => {
      const view = client.view(type);
      const rows = (await view.list()) as Row[];
      const { rowCount } = await server.pool.query(`select from ${tableOf(type)}`);
      expect(rows).toHaveLength(rowCount!);
      for (const row of rows) {
        expect(await view.get(row.k)).toEqual(row);
        const path = `/api/views/${toPathSegment(type)}/${toPathSegment(String(row.k))}`;
        const response = await fetch(`${server.url}${path}`, { headers: { Authorization: 'Bearer ann' } });
        expect([response.status, await response.json()]).toEqual([200, row]);
        const { code, stdout } = await runHere(['pull', type, '--', String(row.k)]);
        expect([code, JSON.parse(stdout)]).toEqual([0, row]);
      }
    },
  );

  it('finds its row as text too, in the form that `watch` reports, but not as any other text', async () => {
    const view = client.view('int2');
    const row = { k: 7 };
    expect(await view.get(7)).toEqual(row);
    expect(await view.get('7')).toEqual(row);
    expect(await view.get('007')).toBeUndefined();
    const changes = vi.fn();
    const stop = view.watch(changes);
    await expect.poll(() => changes.mock.calls.flat(2)).toContainEqual({ key: '7', row });
    stop();
  });

  it('of several columns finds its row in queries and in mutators', async () => {
    const view = client.view('pair');
    const rows = (await view.list()) as Pair[];
    expect(rows).toEqual([
      { amount: 1.5, code: '/  ', done: false },
      { amount: 20, code: 'a% ', done: false },
    ]);
    for (const { amount, code, done } of rows) expect(await view.get([amount, code])).toEqual({ amount, code, done });
    client.setOnline(false);
    await (client.mutate as unknown as { list: { create(args: object): Promise<void> } }).list.create({});
    expect(await view.list()).toEqual(rows.map((row) => ({ ...row, done: true })));
  });
});
