/** No view shares keys with another view of the application, or with one of Tidemark's own. */
import { afterAll, describe, expect, it } from 'vitest';
import { openPool } from '../../db/pg.js';
import { SetupError } from '../../errors.js';
import { sql } from '../../index.js';
import { refusedViews } from '../../store/refusals.js';
import { ClientViews } from '../client-views.js';
import { defineView, type View } from '../define.js';

const db = openPool(process.env.TIDEMARK_TEST_CLUSTER!);
afterAll(() => db.close());

const view = (prefix?: string) =>
  defineView({
    key: 'id',
    query: () => sql<{ id: string }>`select id from t`,
    ...(prefix !== undefined && { prefix }),
  });

interface User {
  readonly userID: string;
}

describe('the keys of two views', () => {
  it.each([
    [{ a: view('x/'), b: view('x/') }],
    [{ a: view('x'), b: view('x/') }],
    [{ a: view('x/y/'), b: view('x/') }],
    [{ a: view(''), b: view() }],
    [{ todo: view(), other: view('todo/') }],
  ])('must not overlap (case %#)', (views) => {
    expect(() => new ClientViews(db, views)).toThrow(SetupError);
    expect(() => new ClientViews(db, views)).toThrow(/could share keys: .* Give one of them another prefix/);
  });

  it('may have similar prefixes', () => {
    expect(() => new ClientViews(db, { a: view('x/'), b: view('xy/'), c: view('/x'), todo: view() })).not.toThrow();
  });
});

describe('a key template', () => {
  const keyed = (key: string) => defineView({ key, query: () => sql`select a, b from t` });

  it('defines the key columns, and the whole key', () => {
    expect(keyed('user/{a}/todo/{b}')).toMatchObject({ key: ['a', 'b'], template: 'user/{a}/todo/{b}' });
    expect(keyed('{a}/{b}/{a}').key).toEqual(['a', 'b']);
    expect(() => new ClientViews(db, { one: keyed('{a}/x'), two: keyed('{a}/y') })).not.toThrow();
  });

  it.each([
    ['user/{a}{b}', 'has no slash between {a} and {b}'],
    ['{a}-{b}', 'has no slash between {a} and {b}'],
    ['{a', 'is no template. Write each of its columns as {column}'],
    ['{a}/}', 'is no template'],
  ])('is rejected if it is %s', (key, message) => {
    expect(() => new ClientViews(db, { ann: keyed(key) })).toThrow(SetupError);
    expect(() => new ClientViews(db, { ann: keyed(key) })).toThrow(
      `The view "ann" cannot be served: its key "${key}" ${message}`,
    );
  });
});

describe('a prefix that depends on the user', () => {
  const own = (key: string, prefix: (user: string) => unknown) =>
    defineView({ key, query: () => sql`select a, b from t`, prefix: ({ ctx }) => prefix(ctx.userID) as string });
  const ask = (views: Record<string, View<User>>, userID: string) => {
    const resolved = new ClientViews(db, views).resolve({ ctx: { userID }, profileID: '', schemaVersion: '' }, '');
    return resolved.then(
      () => '',
      ({ message }: Error) => message,
    );
  };

  it('is checked for each user against all other views', async () => {
    const views = {
      one: own('todo/{a}', (user) => `space/${user}/`),
      two: own('list/{b}', (user) => `space/${user}/`),
      three: defineView({ key: 'a', prefix: 'space/x/list/', query: () => sql`select a from t` }),
    };
    // The table does not exist. Tidemark looks it up after it has checked the keys.
    expect(await ask(views, 'ada')).toMatch('there is no table t');
    expect(await ask(views, 'x/list')).toBe(
      'The views "one" and "three" could share keys: "space/x/list/todo/{a}" and "space/x/list/{a}". Give one of them another prefix, or fixed text where the other has other text.',
    );
    expect(await ask(views, 'x')).toMatch('The views "two" and "three" could share keys');
  });

  it.each([
    ['undefined', () => undefined, 'its prefix is no text'],
    ['a text with U+0000', () => 'a\0', 'its prefix contains U+0000'],
    ['the same as another one in UTF-8', () => '\ud800', 'could share keys'],
  ])('is rejected if it is %s', async (_, prefix, message) => {
    const one = own('a', prefix);
    expect(await ask({ one, two: own('a', () => '\udfff') }, 'ada')).toContain(message);
  });
});

describe('Tidemark’s own keys', () => {
  const query = () => sql`select a, b, c, d from t`;
  const input = (userID: string) => ({ ctx: { userID }, profileID: '', schemaVersion: '' });
  const ask = (view: View<User>, userID: string, ownViews = refusedViews) =>
    new ClientViews(db, { view }).queries(input(userID), { ownViews });

  it.each([
    ['a template', { key: 'tidemark/{a}' }],
    ['a prefix and a template', { key: 'mark/{a}', prefix: 'tide' }],
  ])('are not available to %s that begins like them', (_, { key, ...prefix }) => {
    const view = defineView({ query, key, ...prefix });
    expect(() => new ClientViews(db, { view })).toThrow('names and keys that begin with "tidemark/" are reserved');
  });

  it('are not available to a prefix that depends on the user, whether they are requested or not', () => {
    const views = new ClientViews(db, {
      view: defineView({ query, key: 'a', prefix: ({ ctx }) => `${ctx.userID}/` }),
    });
    expect(views.queries(input('ada'), { ownViews: refusedViews })).toHaveLength(2);
    for (const ownViews of [undefined, refusedViews]) {
      expect(() => views.queries(input('tidemark'), { ownViews })).toThrow('are reserved');
    }
  });

  it('must not overlap with those of a template or of a prefix that depends on the user', () => {
    const template = defineView({ query, key: '{a}/{b}/{c}/{d}' });
    expect(ask(template, 'ada', {})).toHaveLength(1);
    expect(() => ask(template, 'ada')).toThrow(
      'could share keys: "{a}/{b}/{c}/{d}" and "tidemark/refused/{clientID}/{mutationID}"',
    );
    const prefix = defineView({ query, key: 'a', prefix: ({ ctx }) => ctx.userID });
    expect(ask(prefix, 'ada')).toHaveLength(2);
    expect(ask(prefix, 'tide', {})).toHaveLength(1);
    expect(() => ask(prefix, 'tide')).toThrow('could share keys');
  });
});
