import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql as raw } from 'kysely';
import { expect, it } from 'vitest';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { type QuerySource, sql } from '../../../packages/tidemark/src/sql.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import { sampleInput } from '../../../packages/tidemark/src/view/sample.js';
import { useDatabase } from './opened.js';

interface Todo {
  id: string;
}
const kysely = new Kysely<{ todo: Todo & { team: number } }>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
const input = { ctx: { userID: 'ann' }, profileID: '', schemaVersion: '' };

const opened = useDatabase(`
    create table todo (id text primary key, team int, tags text[], doc jsonb, made timestamptz, bytes bytea);
    create domain labels as text[];
    create domain settings as jsonb;
    create domain stricter_settings as settings`);

const viewsOf = (query: () => QuerySource) => new ClientViews(opened.db, { todo: { key: ['id'], query } });
const resolve = (query: () => QuerySource) => viewsOf(query).resolve(input, '');

const missing = (input.ctx as { teamID?: string }).teamID;

it.each<[what: string, query: () => QuerySource, mistake: RegExp]>([
  [
    'undefined',
    () => sql`select id from todo where id <> ${'a'} and id = ${missing}`,
    /\$2 \(after `\$1 and id =`\) is undefined: a field may be missing or misspelt\. Pass null if/,
  ],
  [
    'undefined from another query builder',
    () => raw<Todo>`select id from todo where id = ${missing}`.compile(kysely),
    /\$1 \(.*\) is undefined/,
  ],
  ['a missing value', () => ({ text: 'select id from todo where id = $1', values: [] }), /\$1 .* is undefined/],
  [
    'an array for one text',
    () => sql`select id from todo where id in (${['a', 'b']})`,
    /is an array, but Postgres expects one text\. Write `= any\(\$\{values\}\)` in place of `in \(\$\{values\}\)`/,
  ],
  [
    'an array for one number, from another query builder',
    () => raw<Todo>`select id from todo where team in (${[1, 2]})`.compile(kysely),
    /is an array, but Postgres expects one int4/,
  ],
  [
    'an array of undefined',
    () => sql`select id from todo where id = any(${['a', missing]})`,
    /is an array that contains undefined/,
  ],
  ['an array for JSON', () => sql`select id from todo where doc @> ${[]}`, /is an array.*`JSON\.stringify\(values\)`/],
  [
    'an array for a domain over JSON',
    () => sql`select id from todo where doc = ${[1]}::stricter_settings`,
    /is an array.*`JSON\.stringify\(values\)`/,
  ],
  [
    'a set',
    () => sql`select id from todo where id = any(${new Set(['a'])})`,
    /is a collection\. Pass an array: `= any\(\$\{\[\.\.\.values\]\}\)`/,
  ],
  ['a promise', () => sql`select id from todo where id = ${Promise.resolve('a')}`, /is a promise\. Await it before/],
  ['a function', () => sql`select id from todo where id = ${() => 'a'}`, /is a function/],
  ['an object', () => sql`select id from todo where id = ${{ id: 'a' }}`, /is an object, but Postgres expects a text/],
])('resolve refuses %s as a parameter, and says where and what to write', async (_, query, mistake) => {
  const failure = await resolve(query).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SetupError);
  expect((failure as Error).message).toMatch(/^The view "todo" cannot be served: its parameter \$/);
  expect((failure as Error).message).toMatch(mistake);
});

class Price {
  toPostgres(): string {
    return '5';
  }
}

it.each<[what: string, query: () => QuerySource]>([
  ['null', () => sql`select id from todo where id = ${null}`],
  ['an array', () => sql`select id from todo where id = any(${['a', null]}) and tags <> ${['b']}`],
  ['an empty array', () => sql`select id from todo where team = any(${[]})`],
  ['an array for a domain over arrays', () => sql`select id from todo where tags = ${['a']}::labels`],
  ['an object for JSON', () => sql`select id from todo where doc @> ${{ a: 1 }} or doc = ${{ a: 1 }}::settings`],
  ['a date and bytes', () => sql`select id from todo where made > ${new Date(0)} or bytes = ${Buffer.from('a')}`],
  ['an object that converts itself', () => sql`select id from todo where team = ${new Price()}`],
  ['a list that a query builder expands', () => kysely.selectFrom('todo').select('id').where('id', 'in', ['a', 'b'])],
])('resolve accepts %s as a parameter', async (_, query) => {
  await expect(resolve(query)).resolves.toHaveLength(1);
});

it('resolve treats fields that the sample context lacks as null', async () => {
  const views = viewsOf(() => sql`select id from todo where id = ${missing}`);
  await expect(views.resolve(sampleInput({}), '')).resolves.toHaveLength(1);
});

it.each<[what: string, query: () => unknown, mistake: string]>([
  ['plain text', () => 'select id from todo', 'is plain text. Use the `sql` tag: sql`select …`'],
  [
    'plain text passed to `sql`',
    () => sql('select id from todo' as never),
    'is plain text. Use the `sql` tag: sql`select …`',
  ],
  [
    'a promise',
    async () => sql`select id from todo`,
    'is a promise. `query` must return the query itself: it cannot be async',
  ],
  ['nothing', () => undefined, 'is undefined. Does the function `query` lack a `return`?'],
  [
    'a query of another library',
    () => ({ sql: 'select id from todo', bindings: [] }),
    'is none from the `sql` tag, Kysely, Drizzle or Prisma. Use the `sql` tag: sql`select …`',
  ],
])('resolve refuses %s as a query, also for the sample context', async (_, query, mistake) => {
  const expected = new SetupError(`The view "todo" cannot be served: its query ${mistake}.`);
  const views = viewsOf(query as () => QuerySource);
  await expect(views.resolve(sampleInput({}), '')).rejects.toThrow(expected);
  await expect(views.resolve(input, '')).rejects.toThrow(expected);
});
