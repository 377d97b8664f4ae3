import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { type QuerySource, sql } from '../../../packages/tidemark/src/sql.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import { defineView, type View, viewFor } from '../../../packages/tidemark/src/view/define.js';
import { sampleInput } from '../../../packages/tidemark/src/view/sample.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

it('defineView normalizes the key, and keeps the other options', () => {
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

interface User {
  readonly userID: string;
}

describe('ClientViews', () => {
  let database: TestDatabase;
  let db: ReturnType<typeof openPool>;

  beforeAll(async () => {
    database = await createTestDatabase();
    db = openPool(database.url);
    await database.pool.query('create table todo (id text primary key, owner text)');
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  const inputFor = (userID: string) => ({ ctx: { userID }, profileID: 'p', schemaVersion: '1' });
  const viewOf = (query: (userID: string) => QuerySource, more: Partial<View<User>> = {}): View<User> => ({
    key: ['id'],
    query: ({ ctx }) => query(ctx.userID),
    ...more,
  });
  const mine = viewOf((userID) => sql`select id from todo where owner = ${userID}`);

  it('gives each schema version its views, and the sample input all views', async () => {
    const versions: string[] = [];
    const recordingView = (schemaVersions?: readonly string[]): View<User> => ({
      key: ['id'],
      query: ({ schemaVersion }) => {
        versions.push(schemaVersion);
        return sql`select id from todo`;
      },
      ...(schemaVersions && { schemaVersions }),
    });
    const views = new ClientViews(db, {
      all: recordingView(),
      old: recordingView(['1']),
      recent: recordingView(['2', '3']),
    });
    const namesFor = (schemaVersion: string) =>
      views.queries({ ...inputFor('ann'), schemaVersion }).map(({ name }) => name);
    expect(namesFor('1')).toEqual(['all', 'old']);
    expect(namesFor('3')).toEqual(['all', 'recent']);
    expect(namesFor('4')).toEqual(['all']);
    versions.length = 0;
    const sample = views.queries(sampleInput<User>({ schemaVersions: ['3', '1'] }));
    expect(sample.map(({ name }) => name)).toEqual(['all', 'old', 'recent']);
    expect(versions).toEqual(['3', '1', '2']);
    // A REST request names its view.
    expect(views.queries(inputFor('ann'), { part: { view: 'recent' } })).toHaveLength(1);
  });

  it('resolves each user’s views to the same compiled view', async () => {
    const views = new ClientViews(db, { mine, all: viewOf(() => sql`select id from todo`, { prefix: 'a:' }) });
    const [ann, all] = await views.resolve(inputFor('ann'), 'hash');
    const [ben] = await views.resolve(inputFor("ben's"), 'hash');
    expect(ann!.literals).toEqual(["'ann'::pg_catalog.text"]);
    expect(ben!.literals).toEqual(["'ben''s'::pg_catalog.text"]);
    expect(ben!.view).toBe(ann!.view);
    expect(ann!.view).toMatchObject({ name: 'mine', prefix: 'mine/', key: { columns: ['id'] } });
    expect(all!.view).toMatchObject({ name: 'all', prefix: 'a:' });
    expect(ann!.view.now.text.join('$1')).toBe('select id from todo where owner = $1');
    expect(ann!.tables.map(({ name }) => name)).toEqual(['todo']);
  });

  it('analyzes a query again for another schema hash or another text', async () => {
    const views = new ClientViews(db, {
      mine: viewOf((userID) => ({ text: `select '${userID}' as id`, values: [] })),
    });
    const compiledFor = async (userID: string, hash: string) => (await views.resolve(inputFor(userID), hash))[0]!.view;
    expect(await compiledFor('ann', 'one')).toBe(await compiledFor('ann', 'one'));
    expect(await compiledFor('ann', 'two')).not.toBe(await compiledFor('ann', 'one'));
    expect(await compiledFor('ben', 'one')).not.toBe(await compiledFor('ann', 'one'));
  });

  it('does not cache a failure', async () => {
    const views = new ClientViews(db, { late: viewOf(() => sql`select id from late`) });
    await expect(views.resolve(inputFor('ann'), '')).rejects.toThrow('there is no table late');
    await database.pool.query('create table late (id int primary key)');
    expect(await views.resolve(inputFor('ann'), '')).toHaveLength(1);
  });

  it.each<[what: string, view: View<User>, message: string]>([
    [
      'Tidemark refuses',
      viewOf(() => sql`select id from todo limit 1`),
      'The view "v" cannot be served: it has LIMIT or OFFSET without ORDER BY',
    ],
    [
      'Postgres refuses',
      viewOf(() => sql`select id + 1 as id from todo`),
      'The view "v" cannot be served: Postgres says: operator does not exist: text + integer.',
    ],
    [
      'cannot build its query',
      viewOf(() => {
        throw new SetupError('it has no query for ann');
      }),
      'The view "v" cannot be served: it has no query for ann.',
    ],
  ])('names a view that %s', async (_, refused, message) => {
    const views = new ClientViews(db, { v: refused });
    await expect(views.resolve(inputFor('ann'), '')).rejects.toThrow(SetupError);
    await expect(views.resolve(inputFor('ann'), '')).rejects.toThrow(message);
  });

  it('distinguishes equal values of two parameters in grouping sets', async () => {
    const query = (user: string) =>
      sql`select ${user}::text as id, ${user}::text as b from todo group by rollup (1, 2)`;
    const [view] = await new ClientViews(db, { v: viewOf(query) }).resolve(inputFor('ann'), '');
    const [one, other] = view!.literals;
    expect(one).not.toBe(other);
    const { rows } = await database.pool.query(`select ${one} as one, ${other} as other, 'ann' as given`);
    expect(rows).toEqual([{ one: 'ann', other: 'ann', given: 'ann' }]);
  });

  it.each([
    ['by a rollup', 'false::boolean', 'rollup (1, 2)'],
    ['by one set twice', "boolean 'false'", "grouping sets ((boolean 'false'), (boolean 'false'), ())"],
  ])('distinguishes a parameter from an equal constant that is grouped %s', async (_, constant, sets) => {
    const text = (parameter: string) =>
      `select ${parameter}::boolean as id, ${constant} as b from (select where null) none group by ${sets}`;
    const view = { query: () => ({ text: text('$1'), values: [false] }), key: 'id' };
    const [resolved] = await new ClientViews(db, { v: defineView(view) }).resolve(inputFor('ann'), '');
    const { rows } = await database.pool.query(text(resolved!.literals[0]!));
    expect(rows).toEqual((await database.pool.query(text('$1'), [false])).rows);
  });

  it('passes on errors that the view does not cause', async () => {
    const coded = viewOf(() => {
      throw Object.assign(new Error('of the application'), { code: 'E22' });
    });
    await expect(new ClientViews(db, { v: coded }).resolve(inputFor('ann'), '')).rejects.toThrow(
      /^of the application$/,
    );
    const failing = viewOf(() => {
      throw new RangeError('of the application');
    });
    await expect(new ClientViews(db, { v: failing }).resolve(inputFor('ann'), '')).rejects.toThrow(
      new RangeError('of the application'),
    );
    const sample = sampleInput({ sampleContext: { userID: 'ann' } });
    await expect(new ClientViews(db, { mine }).resolve(sample, '')).resolves.toHaveLength(1);
    const closed = openPool(database.url);
    await closed.close();
    await expect(new ClientViews(closed, { mine }).resolve(inputFor('ann'), '')).rejects.not.toThrow(SetupError);
  });

  it('names the view and the option if the sample context lacks a field that a view reads', async () => {
    interface Member extends User {
      readonly roles: readonly string[];
    }
    const byRole = viewFor<Member>()({
      key: 'id',
      query: ({ ctx }) =>
        ctx.roles.includes('admin') ? sql`select id from todo` : sql`select id from todo where false`,
    });
    const views = new ClientViews(db, { byRole });
    const failure = await views.resolve(sampleInput<Member>({}), '').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SetupError);
    expect(failure).toMatchObject({
      message:
        'The view "byRole" cannot be served: its query or prefix cannot be built for the sample context (Cannot read properties ' +
        "of undefined (reading 'includes')). Set the option `sampleContext` to a context with all fields that " +
        '`authenticate` returns.',
      cause: expect.any(TypeError),
    });
    const sample = sampleInput<Member>({ sampleContext: { userID: 'ann', roles: [] } });
    await expect(views.resolve(sample, '')).resolves.toHaveLength(1);
    // An error with a real user's context is not a setup error.
    const real = { ctx: { userID: 'ann' } as Member, profileID: '', schemaVersion: '' };
    await expect(views.resolve(real, '')).rejects.toThrow(TypeError);
  });
});
