import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { type Bound, CurrentInstallation, OutdatedError } from '../../../src/installation/current-installation.js';
import { migrate } from '../../../src/migrate.js';
import { sql } from '../../../src/sql.js';
import { ClientViews } from '../../../src/view/client-views.js';
import { viewFor } from '../../../src/view/define.js';
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
let current: CurrentInstallation<User>;

beforeAll(async () => {
  database = await createSynced('create table t (id int primary key, s text)', views);
  db = openPool(database.url);
  current = new CurrentInstallation(db, new ClientViews(db, views));
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const bind = (value: unknown, userID = 'ann'): Promise<Bound> =>
  current.bind({ ctx: { userID, value }, profileID: '', schemaVersion: '' });
const literalOf = ({ views: [view] }: Bound) => view!.literals[0];

/** As if the last reading had become too old. */
function laterOn(): void {
  vi.setSystemTime(Date.now() + 2_000);
}
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('binds views once for the same user and parameters', async () => {
  const first = await bind('a');
  expect(await bind('a')).toBe(first);
});

it('binds them anew once anything about the tables has changed, and not before', async () => {
  const first = await bind('a');
  const before = await current.present();
  laterOn();
  expect(await bind('a')).toBe(first);
  expect(await current.present()).not.toBe(before);
  await database.pool.query('truncate t');
  laterOn();
  const second = await bind('a');
  expect(second).not.toBe(first);
  expect(second.installation.tables[0]!.outline).not.toBe(first.installation.tables[0]!.outline);
});

it('what was read is not read again while nothing has been committed since', async () => {
  laterOn();
  const first = await current.present();
  const readAt = Date.now();
  laterOn();
  current.remained(readAt, Date.now());
  expect(await current.present()).toBe(first);
  laterOn();
  current.remained(readAt + 2_001, Date.now());
  expect(await current.present()).not.toBe(first);
});

it('is read again by plans that are kept, however many tables there are', async () => {
  for (let i = 0; i < 10; i++) {
    laterOn();
    await bind('a');
  }
  const plans = await db.query<{ name: string; anew: number }>({
    text: `select name, custom_plans::int as anew from pg_prepared_statements where name like 'tidemark%' and not from_sql`,
  });
  const readings = plans.filter(({ name }) => /_(records|version|outlines|shapes|tables|captures)_/.test(name));
  expect(readings.length).toBeGreaterThanOrEqual(8);
  // Postgres plans a statement anew five times before it looks for a plan to keep.
  expect(Math.max(...readings.map(({ anew }) => anew))).toBeLessThanOrEqual(5);
});

it('binds views anew for other parameters', async () => {
  expect(literalOf(await bind('a'))).toContain("'a'");
  expect(literalOf(await bind('b'))).toContain("'b'");
  expect((await bind('a')).viewsDigest).not.toBe((await bind('b')).viewsDigest);
});

it('binds views anew for another user with the same parameters', async () => {
  expect((await bind('a', 'ann')).viewsDigest).not.toBe((await bind('a', 'ben')).viewsDigest);
});

it('binds views anew for another prefix of the user’s own', async () => {
  const query = () => sql<{ id: number }>`select id from t`;
  const own = { mine: viewFor<User>()({ key: 'id', query, prefix: ({ ctx }) => `${ctx.value}/` }) };
  const prefixed = new CurrentInstallation(db, new ClientViews(db, own));
  const bound = (value: string) => prefixed.bind({ ctx: { userID: 'ann', value }, profileID: '', schemaVersion: '' });
  const [one, other] = [await bound('a'), await bound("b'")];
  expect(literalOf(one)).toBe("'a/'::pg_catalog.text");
  expect(literalOf(other)).toBe("'b''/'::pg_catalog.text");
  expect(other.views[0]!.view).toBe(one.views[0]!.view);
  expect(other.viewsDigest).not.toBe(one.viewsDigest);
  expect(other.formDigest).toBe(one.formDigest);
});

it('has digests of the user, of all parameters and of each view, which change with what it reads alone', async () => {
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
    const installation = new CurrentInstallation(db, new ClientViews(db, two));
    return (await installation.bind({ ctx: { userID, value }, profileID: '', schemaVersion: '' })).viewDigests.split(
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

it('tries again while tables are altered one after the other, and not forever', async () => {
  const input = { ctx: { userID: 'ann', value: 'a' }, profileID: '', schemaVersion: '' };
  const until = performance.now() + 200;
  const serveUntil = (end: number) =>
    current.serve(input, async () => {
      if (performance.now() < end) throw new OutdatedError();
      return 'served';
    });
  expect(await serveUntil(until)).toBe('served');
  await expect(serveUntil(Number.POSITIVE_INFINITY)).rejects.toThrow(OutdatedError);
});

it('tells values apart that JSON writes alike', async () => {
  const date = new Date(0);
  const viewOf = (text: string) => new DataView(Uint8Array.from(Buffer.from(text)).buffer);
  const pairs: [unknown, unknown][] = [
    [date, date.toJSON()],
    [Number.NaN, null],
    [{ toPostgres: () => 'x' }, { toPostgres: () => 'y' }],
    [viewOf('a'), viewOf('b')],
  ];
  for (const [one, other] of pairs) {
    expect(literalOf(await bind(one))).not.toBe(literalOf(await bind(other)));
    expect(literalOf(await bind(other))).not.toBe(literalOf(await bind(one)));
  }
});
