/** The views that servers record, to determine later which of them a client has. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { type CatalogView, ViewCatalog } from '../../../packages/tidemark/src/schema/views/view-catalog.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced } from '../../support/synced.js';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createSynced('', {});
  db = openPool(database.url, { max: 3 });
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

const view = (text: string): CatalogView => ({
  name: 'v',
  prefix: null,
  key: ['id'],
  text,
  columns: { id: 'ID' },
  keysDigest: 'k',
});
const all = (...digests: string[]) => new Map(digests.map((digest) => [digest, view(digest)]));
const run = async <Row>(text: string) => (await database.pool.query(text)).rows as Row[];

it('any server finds the views that another server recorded', async () => {
  await new ViewCatalog(db).add(all('a', 'b'));
  expect(await new ViewCatalog(db).find('a')).toEqual(view('a'));
  expect(await new ViewCatalog(db).find('c')).toBeUndefined();
});

it('a server records its views unless they were recorded within the last day', async () => {
  await new ViewCatalog(db).add(all('a', 'b'));
  const written = () =>
    run<{ digest: string; xmin: string }>('select digest, xmin from tidemark.view_catalog order by 1');
  const before = await written();
  const catalog = new ViewCatalog(db);
  await catalog.add(all('a', 'b'));
  expect(await written()).toEqual(before);
  await run(`update tidemark.view_catalog set at = at - interval '2 days' where digest = 'a'`);
  await catalog.add(all('a', 'b'));
  await new ViewCatalog(db).add(all('a', 'b'));
  const [a, b] = await run<{ isNew: boolean }>(
    `select at > clock_timestamp() - interval '1 day' as "isNew" from tidemark.view_catalog order by digest`,
  );
  expect([a, b]).toEqual([{ isNew: true }, { isNew: true }]);
});

it('servers that start together record each view once', async () => {
  await Promise.all(Array.from({ length: 6 }, () => new ViewCatalog(db).add(all('b', 'a', 'c'))));
  expect(await run('select digest from tidemark.view_catalog order by 1')).toEqual(
    ['a', 'b', 'c'].map((digest) => ({ digest })),
  );
});

it('the catalog keeps the newest thousand views', async () => {
  await run(`insert into tidemark.view_catalog select 'old ' || n, '{}', now() - make_interval(mins => n)
    from generate_series(1, 1200) n`);
  await new ViewCatalog(db).add(all('new'));
  const rows = await run<{ digest: string }>('select digest from tidemark.view_catalog order by at desc');
  expect(rows).toHaveLength(1000);
  expect([rows[0], rows[999]]).toEqual([{ digest: 'new' }, { digest: 'old 999' }]);
});

it('a server records its views at the next attempt if one has failed', async () => {
  const catalog = new ViewCatalog(db);
  await run('alter function tidemark.store_views rename to store_no_views');
  await expect(catalog.add(all('a'))).rejects.toThrow(/does not exist/);
  await run('alter function tidemark.store_no_views rename to store_views');
  await catalog.add(all('a'));
  expect(await catalog.find('a')).toEqual(view('a'));
});

it('a server records nothing where it may not write', async () => {
  const readOnly = openPool(`${database.url}?options=-c%20default_transaction_read_only%3Don`, { max: 1 });
  await new ViewCatalog(readOnly).add(all('a')).finally(() => readOnly.close());
  expect(await run('select from tidemark.view_catalog')).toEqual([]);
  const role = 'keeps_no_views';
  await run(
    `create role ${role}; grant usage on schema tidemark to ${role}; grant select on tidemark.view_catalog to ${role}`,
  );
  try {
    const unprivileged = openPool(`${database.url}?options=-c%20role%3Dkeeps_no_views`, { max: 1 });
    await new ViewCatalog(unprivileged).add(all('a')).finally(() => unprivileged.close());
    expect(await run('select from tidemark.view_catalog')).toEqual([]);
  } finally {
    await run(`drop owned by ${role}; drop role ${role}`);
  }
});
