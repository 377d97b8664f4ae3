import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openPool } from '../../../src/db/pg.js';
import { SetupError } from '../../../src/errors.js';
import { type QuerySource, sql } from '../../../src/sql.js';
import { ClientViews } from '../../../src/view/client-views.js';
import { defineView, type View, viewFor } from '../../../src/view/define.js';
import { sampleInput } from '../../../src/view/sample.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

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

interface User {
  readonly userID: string;
}

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

  it('gives each schema version its views, and a sample all of them, as those see them that have them', async () => {
    const asked: string[] = [];
    const noting = (schemaVersions?: readonly string[]): View<User> => ({
      key: ['id'],
      query: ({ schemaVersion }) => {
        asked.push(schemaVersion);
        return sql`select id from todo`;
      },
      ...(schemaVersions && { schemaVersions }),
    });
    const views = new ClientViews(own, { all: noting(), old: noting(['1']), recent: noting(['2', '3']) });
    const namesFor = (schemaVersion: string) => views.queries({ ...ask('ann'), schemaVersion }).map(({ name }) => name);
    expect(namesFor('1')).toEqual(['all', 'old']);
    expect(namesFor('3')).toEqual(['all', 'recent']);
    expect(namesFor('4')).toEqual(['all']);
    asked.length = 0;
    const sample = views.queries(sampleInput<User>({ schemaVersions: ['3', '1'] }));
    expect(sample.map(({ name }) => name)).toEqual(['all', 'old', 'recent']);
    expect(asked).toEqual(['3', '1', '2']);
    // Over REST, a view is asked for by its name.
    expect(views.queries(ask('ann'), { part: { view: 'recent' } })).toHaveLength(1);
  });

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
