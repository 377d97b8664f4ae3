import { afterEach, describe, expect, it } from 'vitest';
import { judgeVersion } from '../../../packages/tidemark/src/doctor/collect-status.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { tableView } from '../../support/synced.js';
import { mine, owner, usePatient } from './patient.js';

const patient = usePatient('create table todo (id int primary key, owner_id text); create table other (id int)');

afterEach(() => patient.migrate());

describe('not-captured', () => {
  it.each([
    [
      'a disabled trigger',
      'alter table todo disable trigger tidemark_update',
      /tidemark_update .* does not always fire/,
    ],
    ['a dropped trigger', 'drop trigger tidemark_delete on todo', /tidemark_delete is missing/],
    [
      'a replaced function',
      `create or replace function tidemark.capture_1() returns trigger language plpgsql as $$ begin return null; end $$`,
      /does not match its columns/,
    ],
  ])('reports %s', async (_, change, reason) => {
    await patient.run(change);
    const [found, ...others] = await patient.findings();
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      code: 'not-captured',
      severity: 'error',
      subject: 'todo',
      what: expect.stringMatching(reason),
      advice: 'Run `tidemark migrate`.',
    });
  });

  it('reports the table of refusals, which Tidemark itself reads', async () => {
    await patient.run('drop trigger tidemark_insert on tidemark.refusal');
    expect(await patient.findings()).toMatchObject([
      { code: 'not-captured', subject: 'tidemark.refusal', advice: 'Run `tidemark migrate`.' },
    ]);
  });

  it('reports a table that a view reads, but that no migration has captured', async () => {
    await patient.run(`create table added (id int primary key); alter table added owner to ${owner}`);
    const found = await patient.findings({ views: { ...mine, added: tableView('added') }, role: owner });
    expect(found).toMatchObject([{ code: 'not-captured', subject: 'public.added' }]);
    expect(found[0]!.what).toMatch(/has never been captured\.$/);
  });
});

it.each([
  ['a view of a table without a primary key', tableView('other'), /has no primary key\.$/, /ADD PRIMARY KEY/],
  ['a view of a missing table', tableView('nowhere'), /there is no table nowhere\.$/, /Create it/],
  [
    'a view that reads the clock',
    defineView({ query: () => sql<{ id: number }>`select id from todo where now() is not null`, key: 'id' }),
    /it uses now\(\)/,
    /./,
  ],
])('view-refused reports %s', async (_, view, what, advice) => {
  expect(await patient.findings({ views: { mine: mine.mine!, odd: view } })).toMatchObject([
    {
      code: 'view-refused',
      severity: 'error',
      subject: 'odd',
      what: expect.stringMatching(what),
      advice: expect.stringMatching(advice),
    },
  ]);
});

it('view-refused reports row-level security that applies to the role', async () => {
  await patient.run('alter table todo enable row level security');
  const found = await patient.findings();
  await patient.run('alter table todo disable row level security');
  expect(found).toMatchObject([
    { code: 'view-refused', subject: 'mine', what: expect.stringContaining('row-level security that applies') },
  ]);
});

it('view-compared reports a view that is compared', async () => {
  const last = defineView({
    query: () => sql<{ id: number }>`select id from todo order by id fetch first 1 rows with ties`,
    key: 'id',
  });
  expect(await patient.findings({ views: { mine: mine.mine!, last } })).toMatchObject([
    { code: 'view-compared', severity: 'info', subject: 'last', what: expect.stringContaining('it has LIMIT') },
  ]);
});

it('newer-schema reports a newer schema, and not-migrated a missing one', async () => {
  await patient.run(`insert into tidemark.migration (version, file) values (9999, '9999-later.sql')`);
  const newer = await patient.findings();
  expect(newer).toMatchObject([{ code: 'newer-schema', severity: 'error', what: expect.stringContaining('9999') }]);
  await patient.run('drop schema tidemark cascade');
  const none = await patient.findings();
  expect(none).toMatchObject([
    { code: 'not-migrated', severity: 'error', what: 'Tidemark is not installed in this database.' },
  ]);
});

it('not-migrated reports a change log from another cluster', async () => {
  await patient.migrate();
  await patient.run(
    `update tidemark.meta set horizon = (pg_snapshot_xmax(pg_current_snapshot())::text::int8 + 1000)::text::xid8`,
  );
  const found = await patient.findings({ role: owner });
  expect(found).toMatchObject([{ code: 'not-migrated', what: expect.stringContaining('from another cluster') }]);
});

it.each([
  [140_012, ['postgres-too-old']],
  [150_000, []],
  [180_003, []],
  [190_000, ['postgres-untested']],
])('Postgres %s leads to the findings %j', (versionNumber, codes) => {
  expect(judgeVersion({ version: '?', versionNumber, database: 'd', role: 'r' }).map(({ code }) => code)).toEqual(
    codes,
  );
});
