/** The views that servers keep, to tell later what clients have of them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../src/db/database.js';
import { openPool } from '../../../src/db/pg.js';
import { type KeptView, KeptViews } from '../../../src/installation/kept-views.js';
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

const view = (text: string): KeptView => ({
  name: 'v',
  prefix: null,
  key: ['id'],
  text,
  columns: { id: 'ID' },
  keysDigest: 'k',
});
const all = (...digests: string[]) => new Map(digests.map((digest) => [digest, view(digest)]));
const run = async <Row>(text: string) => (await database.pool.query(text)).rows as Row[];

it('are found by any server, as they were', async () => {
  await new KeptViews(db).keep(all('a', 'b'));
  expect(await new KeptViews(db).find('a')).toEqual(view('a'));
  expect(await new KeptViews(db).find('c')).toBeUndefined();
});

it('are written by the first server that serves them, and again by one that starts a day later', async () => {
  await new KeptViews(db).keep(all('a', 'b'));
  const written = () => run<{ digest: string; xmin: string }>('select digest, xmin from tidemark.view_text order by 1');
  const before = await written();
  const kept = new KeptViews(db);
  await kept.keep(all('a', 'b'));
  expect(await written()).toEqual(before);
  await run(`update tidemark.view_text set at = at - interval '2 days' where digest = 'a'`);
  await kept.keep(all('a', 'b'));
  await new KeptViews(db).keep(all('a', 'b'));
  const [a, b] = await run<{ isNew: boolean }>(
    `select at > clock_timestamp() - interval '1 day' as "isNew" from tidemark.view_text order by digest`,
  );
  expect([a, b]).toEqual([{ isNew: true }, { isNew: true }]);
});

it('are written once by servers that start together', async () => {
  await Promise.all(Array.from({ length: 6 }, () => new KeptViews(db).keep(all('b', 'a', 'c'))));
  expect(await run('select digest from tidemark.view_text order by 1')).toEqual(
    ['a', 'b', 'c'].map((digest) => ({ digest })),
  );
});

it('are a thousand at most: the newest', async () => {
  await run(`insert into tidemark.view_text select 'old ' || n, '{}', now() - make_interval(mins => n)
    from generate_series(1, 1200) n`);
  await new KeptViews(db).keep(all('new'));
  const rows = await run<{ digest: string }>('select digest from tidemark.view_text order by at desc');
  expect(rows).toHaveLength(1000);
  expect([rows[0], rows[999]]).toEqual([{ digest: 'new' }, { digest: 'old 999' }]);
});

it('are kept the next time if it has failed', async () => {
  const kept = new KeptViews(db);
  await run('alter function tidemark.keep_views rename to keep_no_views');
  await expect(kept.keep(all('a'))).rejects.toThrow(/does not exist/);
  await run('alter function tidemark.keep_no_views rename to keep_views');
  await kept.keep(all('a'));
  expect(await kept.find('a')).toEqual(view('a'));
});

it('are not written where nothing may be', async () => {
  const readOnly = openPool(`${database.url}?options=-c%20default_transaction_read_only%3Don`, { max: 1 });
  await new KeptViews(readOnly).keep(all('a')).finally(() => readOnly.close());
  expect(await run('select from tidemark.view_text')).toEqual([]);
  const role = 'keeps_no_views';
  await run(
    `create role ${role}; grant usage on schema tidemark to ${role}; grant select on tidemark.view_text to ${role}`,
  );
  try {
    const poor = openPool(`${database.url}?options=-c%20role%3Dkeeps_no_views`, { max: 1 });
    await new KeptViews(poor).keep(all('a')).finally(() => poor.close());
    expect(await run('select from tidemark.view_text')).toEqual([]);
  } finally {
    await run(`drop owned by ${role}; drop role ${role}`);
  }
});
