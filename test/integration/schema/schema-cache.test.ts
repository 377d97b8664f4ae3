import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { type ResolvedViews, SchemaCache } from '../../../packages/tidemark/src/schema/schema-cache.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { ClientViews } from '../../../packages/tidemark/src/view/client-views.js';
import { viewFor } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { createSynced } from '../../support/synced.js';

interface User {
  readonly userID: string;
  readonly value: unknown;
}

const views = {
  mine: viewFor<User>()({
    key: 'id',
    query: ({ ctx }) => sql<{ id: number }>`select id from t where s = ${ctx.value}`,
  }),
};

let database: TestDatabase;
let db: Database;
let cache: SchemaCache<User>;

beforeAll(async () => {
  database = await createSynced('create table t (id int primary key, s text)', views);
  db = openPool(database.url);
  cache = new SchemaCache(db, new ClientViews(db, views));
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const resolve = (value: unknown, userID = 'ann'): Promise<ResolvedViews> =>
  cache.resolve({ ctx: { userID, value }, profileID: '', schemaVersion: '' });
const literalOf = ({ views: [view] }: ResolvedViews) => view!.literals[0];

/** Makes the last reading of the schema too old. */
function laterOn(): void {
  vi.advanceTimersByTime(2_000);
}
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('resolves views once for the same user and parameters', async () => {
  const first = await resolve('a');
  expect(await resolve('a')).toBe(first);
});

it('resolves views again only after something about the tables has changed', async () => {
  const first = await resolve('a');
  const before = await cache.present();
  laterOn();
  expect(await resolve('a')).toBe(first);
  expect(await cache.present()).not.toBe(before);
  await database.pool.query('truncate t');
  laterOn();
  const second = await resolve('a');
  expect(second).not.toBe(first);
  expect(second.schema.tables[0]!.fingerprint).not.toBe(first.schema.tables[0]!.fingerprint);
});

it('does not read the schema again while nothing has been committed since', async () => {
  laterOn();
  const first = await cache.present();
  const readAt = performance.now();
  laterOn();
  cache.remained(readAt, performance.now());
  expect(await cache.present()).toBe(first);
  laterOn();
  cache.remained(readAt + 2_001, performance.now());
  expect(await cache.present()).not.toBe(first);
});

it('reads the schema with cached plans', async () => {
  for (let i = 0; i < 10; i++) {
    laterOn();
    await resolve('a');
  }
  const plans = await db.query<{ name: string; custom: number }>({
    text: `select name, custom_plans::int as custom from pg_prepared_statements where name like 'tidemark%' and not from_sql`,
  });
  const reads = plans.filter(({ name }) => /_(records|version|fingerprints|schema_parts|tables|captures)_/.test(name));
  expect(reads.length).toBeGreaterThanOrEqual(8);
  // Postgres makes five custom plans for a statement before it considers a generic plan.
  expect(Math.max(...reads.map(({ custom }) => custom))).toBeLessThanOrEqual(5);
});

it('resolves views again for other parameters', async () => {
  expect(literalOf(await resolve('a'))).toContain("'a'");
  expect(literalOf(await resolve('b'))).toContain("'b'");
  expect((await resolve('a')).viewsDigest).not.toBe((await resolve('b')).viewsDigest);
});

it('resolves views again for another user with the same parameters', async () => {
  expect((await resolve('a', 'ann')).viewsDigest).not.toBe((await resolve('a', 'ben')).viewsDigest);
});

it('resolves views again for a prefix that depends on the user', async () => {
  const query = () => sql<{ id: number }>`select id from t`;
  const prefixedViews = { mine: viewFor<User>()({ key: 'id', query, prefix: ({ ctx }) => `${ctx.value}/` }) };
  const prefixed = new SchemaCache(db, new ClientViews(db, prefixedViews));
  const resolveFor = (value: string) =>
    prefixed.resolve({ ctx: { userID: 'ann', value }, profileID: '', schemaVersion: '' });
  const [one, other] = [await resolveFor('a'), await resolveFor("b'")];
  expect(literalOf(one)).toBe("'a/'::pg_catalog.text");
  expect(literalOf(other)).toBe("'b''/'::pg_catalog.text");
  expect(other.views[0]!.view).toBe(one.views[0]!.view);
  expect(other.viewsDigest).not.toBe(one.viewsDigest);
  expect(other.queryDigest).toBe(one.queryDigest);
});

it('digests the user, all parameters and each view, each from nothing but what it reads', async () => {
  await database.pool.query('create table other (id int primary key, n int)');
  const two = {
    mine: viewFor<User>()({
      key: 'id',
      query: ({ ctx }) => sql<{ id: number }>`select id from t where ${ctx.value}::text <> ''`,
    }),
    others: viewFor<User>()({ key: 'id', prefix: 'o/', query: () => sql<{ id: number }>`select id from other` }),
  };
  await migrate({ database: database.url, views: two, sampleContext: { userID: 'ann', value: 'a' }, log: silent });
  const partsFor = async (userID: string, value: string) => {
    const schemaCache = new SchemaCache(db, new ClientViews(db, two));
    return (await schemaCache.resolve({ ctx: { userID, value }, profileID: '', schemaVersion: '' })).viewDigests.split(
      '.',
    );
  };
  const [user, parameters, mine, others] = await partsFor('ann', 'a');
  for (const part of [user, parameters, mine, others]) expect(part).toMatch(/^[\w-]{12}$/);
  expect(await partsFor('ann', 'b')).toEqual([user, expect.not.stringMatching(`^${parameters}$`), mine, others]);
  expect(await partsFor('ben', 'a')).toEqual([expect.not.stringMatching(`^${user}$`), parameters, mine, others]);
  await database.pool.query('alter table other add column more int, alter column n type bigint');
  expect(await partsFor('ann', 'a')).toEqual([user, parameters, mine, others]);
  await database.pool.query('alter table other alter column id set statistics 100');
  expect(await partsFor('ann', 'a')).toEqual([user, parameters, mine, expect.not.stringMatching(`^${others}$`)]);
});

it('distinguishes values that JSON writes alike', async () => {
  const date = new Date(0);
  const viewOf = (text: string) => new DataView(Uint8Array.from(Buffer.from(text)).buffer);
  const pairs: [unknown, unknown][] = [
    [date, date.toJSON()],
    [Number.NaN, null],
    [{ toPostgres: () => 'x' }, { toPostgres: () => 'y' }],
    [viewOf('a'), viewOf('b')],
  ];
  for (const [one, other] of pairs) {
    expect(literalOf(await resolve(one))).not.toBe(literalOf(await resolve(other)));
    expect(literalOf(await resolve(other))).not.toBe(literalOf(await resolve(one)));
  }
});
