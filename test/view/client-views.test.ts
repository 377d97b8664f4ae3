import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openPool } from '../../src/db/pg.js';
import { SetupError } from '../../src/errors.js';
import { type QuerySource, sql } from '../../src/sql.js';
import { ClientViews } from '../../src/view/client-views.js';
import { defineView, type View, viewFor } from '../../src/view/define.js';
import { sampleInput } from '../../src/view/sample.js';
import { createTestDatabase, type TestDatabase } from '../database.js';

const db = openPool(process.env.TIDEMARK_TEST_CLUSTER!);
afterAll(() => db.close());

it('has a key of one column or several, and a prefix where it is given', () => {
  const query = () => sql<{ a: string; b: string }>`select a, b from t`;
  expect(defineView({ key: 'a', query })).toEqual({ key: ['a'], query });
  expect(defineView({ key: ['a', 'b'], query, prefix: '' })).toStrictEqual({
    key: ['a', 'b'],
    query,
    prefix: '',
  });
  const row = z.object({});
  const options = { query, prefix: () => 'x', columns: 'camelCase', nulls: 'omit', timestamps: 'UTC', row } as const;
  expect(defineView({ ...options, key: 'x/{a}' })).toStrictEqual({ ...options, key: ['a'], template: 'x/{a}' });
});

const view = (prefix?: string) =>
  defineView({
    key: 'id',
    query: () => sql<{ id: string }>`select id from t`,
    ...(prefix !== undefined && { prefix }),
  });

describe('the keys of two views', () => {
  it.each([
    [{ a: view('x/'), b: view('x/') }],
    [{ a: view('x'), b: view('x/') }],
    [{ a: view('x/y/'), b: view('x/') }],
    [{ a: view(''), b: view() }],
    [{ todo: view(), other: view('todo/') }],
  ])('must not meet (case %#)', (views) => {
    expect(() => new ClientViews(db, views)).toThrow(SetupError);
    expect(() => new ClientViews(db, views)).toThrow(/could share keys: .* Give one of them another prefix/);
  });

  it('may look alike', () => {
    expect(() => new ClientViews(db, { a: view('x/'), b: view('xy/'), c: view('/x'), todo: view() })).not.toThrow();
  });
});

interface User {
  readonly userID: string;
}

describe('a key template', () => {
  const keyed = (key: string) => defineView({ key, query: () => sql`select a, b from t` });

  it('names the key columns, and is all of the key', () => {
    expect(keyed('user/{a}/todo/{b}')).toMatchObject({ key: ['a', 'b'], template: 'user/{a}/todo/{b}' });
    expect(keyed('{a}/{b}/{a}').key).toEqual(['a', 'b']);
    expect(() => new ClientViews(db, { one: keyed('{a}/x'), two: keyed('{a}/y') })).not.toThrow();
  });

  it.each([
    ['user/{a}{b}', 'has no slash between {a} and {b}'],
    ['{a}-{b}', 'has no slash between {a} and {b}'],
    ['{a', 'is no template. Write each of its columns as {column}'],
    ['{a}/}', 'is no template'],
  ])('%s is refused', (key, message) => {
    expect(() => new ClientViews(db, { ann: keyed(key) })).toThrow(SetupError);
    expect(() => new ClientViews(db, { ann: keyed(key) })).toThrow(
      `The view "ann" cannot be served: its key "${key}" ${message}`,
    );
  });
});

describe('a prefix of the user’s own', () => {
  const own = (key: string, prefix: (user: string) => unknown) =>
    defineView({ key, query: () => sql`select a, b from t`, prefix: ({ ctx }) => prefix(ctx.userID) as string });
  const ask = (views: Record<string, View<User>>, userID: string) => {
    const bound = new ClientViews(db, views).bind({ ctx: { userID }, profileID: '', schemaVersion: '' }, '');
    return bound.then(
      () => '',
      ({ message }: Error) => message,
    );
  };

  it('is checked for each user, with all other views', async () => {
    const views = {
      one: own('todo/{a}', (user) => `space/${user}/`),
      two: own('list/{b}', (user) => `space/${user}/`),
      three: defineView({ key: 'a', prefix: 'space/x/list/', query: () => sql`select a from t` }),
    };
    // There is no such table: what is asked for next.
    expect(await ask(views, 'ada')).toMatch('there is no table t');
    expect(await ask(views, 'x/list')).toBe(
      'The views "one" and "three" could share keys: "space/x/list/todo/{a}" and "space/x/list/{a}". Give one of them another prefix, or fixed text where the other has other text.',
    );
    expect(await ask(views, 'x')).toMatch('The views "two" and "three" could share keys');
  });

  it.each([
    ['undefined', () => undefined, 'its prefix is no text'],
    ['with U+0000', () => 'a\0', 'its prefix contains U+0000'],
    ['that cannot be told apart once Postgres has it', () => '\ud800', 'could share keys'],
  ])('%s is refused', async (_, prefix, message) => {
    const one = own('a', prefix);
    expect(await ask({ one, two: own('a', () => '\udfff') }, 'ada')).toContain(message);
  });
});

describe('to bind views', () => {
  let database: TestDatabase;
  let own: ReturnType<typeof openPool>;

  beforeAll(async () => {
    database = await createTestDatabase();
    own = openPool(database.url);
    await database.pool.query('create table todo (id text primary key, owner text)');
  });
  afterAll(async () => {
    await own.close();
    await database.drop();
  });

  const ask = (userID: string) => ({ ctx: { userID }, profileID: 'p', schemaVersion: '1' });
  const asking = (query: (userID: string) => QuerySource, more: Partial<View<User>> = {}): View<User> => ({
    key: ['id'],
    query: ({ ctx }) => query(ctx.userID),
    ...more,
  });
  const mine = asking((userID) => sql`select id from todo where owner = ${userID}`);

  it('puts each user into the same view', async () => {
    const views = new ClientViews(own, { mine, all: asking(() => sql`select id from todo`, { prefix: 'a:' }) });
    const [ann, all] = await views.bind(ask('ann'), 'shape');
    const [ben] = await views.bind(ask("ben's"), 'shape');
    expect(ann!.literals).toEqual(["'ann'::pg_catalog.text"]);
    expect(ben!.literals).toEqual(["'ben''s'::pg_catalog.text"]);
    expect(ben!.view).toBe(ann!.view);
    expect(ann!.view).toMatchObject({ name: 'mine', prefix: 'mine/', keyColumns: ['id'] });
    expect(all!.view).toMatchObject({ name: 'all', prefix: 'a:' });
    expect(ann!.view.now.text.join('$1')).toBe('select id from todo where owner = $1');
    expect(ann!.tables.map(({ name }) => name)).toEqual(['todo']);
  });

  it('analyzes a query anew when the tables have another shape, or its text is another', async () => {
    const views = new ClientViews(own, {
      mine: asking((userID) => ({ text: `select '${userID}' as id`, values: [] })),
    });
    const bound = async (userID: string, shape: string) => (await views.bind(ask(userID), shape))[0]!.view;
    expect(await bound('ann', 'one')).toBe(await bound('ann', 'one'));
    expect(await bound('ann', 'two')).not.toBe(await bound('ann', 'one'));
    expect(await bound('ben', 'one')).not.toBe(await bound('ann', 'one'));
  });

  it('forgets what failed', async () => {
    const views = new ClientViews(own, { late: asking(() => sql`select id from late`) });
    await expect(views.bind(ask('ann'), '')).rejects.toThrow('there is no table late');
    await database.pool.query('create table late (id int primary key)');
    expect(await views.bind(ask('ann'), '')).toHaveLength(1);
  });

  it.each<[what: string, view: View<User>, message: string]>([
    [
      'Tidemark refuses',
      asking(() => sql`select id from todo limit 1`),
      'The view "v" cannot be served: it has LIMIT or OFFSET without ORDER BY',
    ],
    [
      'Postgres refuses',
      asking(() => sql`select id + 1 as id from todo`),
      'The view "v" cannot be served: Postgres says: operator does not exist: text + integer.',
    ],
    [
      'cannot build its query',
      asking(() => {
        throw new SetupError('it has no query for ann');
      }),
      'The view "v" cannot be served: it has no query for ann.',
    ],
  ])('names a view that %s', async (_, refused, message) => {
    const views = new ClientViews(own, { v: refused });
    await expect(views.bind(ask('ann'), '')).rejects.toThrow(SetupError);
    await expect(views.bind(ask('ann'), '')).rejects.toThrow(message);
  });

  it('keeps equal values of two parameters apart where grouping sets would take one for the other', async () => {
    const query = (user: string) =>
      sql`select ${user}::text as id, ${user}::text as b from todo group by rollup (1, 2)`;
    const [view] = await new ClientViews(own, { v: asking(query) }).bind(ask('ann'), '');
    const [one, other] = view!.literals;
    expect(one).not.toBe(other);
    const { rows } = await database.pool.query(`select ${one} as one, ${other} as other, 'ann' as given`);
    expect(rows).toEqual([{ one: 'ann', other: 'ann', given: 'ann' }]);
  });

  it.each([
    ['by a rollup', 'false::boolean', 'rollup (1, 2)'],
    ['by one set twice', "boolean 'false'", "grouping sets ((boolean 'false'), (boolean 'false'), ())"],
  ])('keeps a parameter apart from a constant that it equals, and that is grouped %s', async (_, constant, sets) => {
    const text = (parameter: string) =>
      `select ${parameter}::boolean as id, ${constant} as b from (select where null) none group by ${sets}`;
    const view = { query: () => ({ text: text('$1'), values: [false] }), key: 'id' };
    const [bound] = await new ClientViews(own, { v: defineView(view) }).bind(ask('ann'), '');
    const { rows } = await database.pool.query(text(bound!.literals[0]!));
    expect(rows).toEqual((await database.pool.query(text('$1'), [false])).rows);
  });

  it('passes on what is no matter of the view', async () => {
    const coded = asking(() => {
      throw Object.assign(new Error('of the application'), { code: 'E22' });
    });
    await expect(new ClientViews(own, { v: coded }).bind(ask('ann'), '')).rejects.toThrow(/^of the application$/);
    const failing = asking(() => {
      throw new RangeError('of the application');
    });
    await expect(new ClientViews(own, { v: failing }).bind(ask('ann'), '')).rejects.toThrow(
      new RangeError('of the application'),
    );
    const sample = sampleInput({ sampleContext: { userID: 'ann' } });
    await expect(new ClientViews(own, { mine }).bind(sample, '')).resolves.toHaveLength(1);
    const closed = openPool(database.url);
    await closed.close();
    await expect(new ClientViews(closed, { mine }).bind(ask('ann'), '')).rejects.not.toThrow(SetupError);
  });

  it('names the view and the option where the sample context lacks what a view reads', async () => {
    interface Member extends User {
      readonly roles: readonly string[];
    }
    const byRole = viewFor<Member>()({
      key: 'id',
      query: ({ ctx }) =>
        ctx.roles.includes('admin') ? sql`select id from todo` : sql`select id from todo where false`,
    });
    const views = new ClientViews(own, { byRole });
    const failure = await views.bind(sampleInput<Member>({}), '').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SetupError);
    expect(failure).toMatchObject({
      message:
        'The view "byRole" cannot be served: its query or prefix cannot be built for the sample context (Cannot read properties ' +
        "of undefined (reading 'includes')). Set the option `sampleContext` to a context with all fields that " +
        '`authenticate` returns.',
      cause: expect.any(TypeError),
    });
    const sample = sampleInput<Member>({ sampleContext: { userID: 'ann', roles: [] } });
    await expect(views.bind(sample, '')).resolves.toHaveLength(1);
    // A real user's context is no matter of setting up.
    const real = { ctx: { userID: 'ann' } as Member, profileID: '', schemaVersion: '' };
    await expect(views.bind(real, '')).rejects.toThrow(TypeError);
  });
});
