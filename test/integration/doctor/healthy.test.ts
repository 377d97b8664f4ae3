import { expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { owner, server, usePatient } from './patient.js';

const patient = usePatient(`
  create table todo (id int primary key, owner_id text not null, n int);
  create index on todo (owner_id);
  insert into todo select i, i % 1000, i from generate_series(1, 20000) i; analyze todo`);

it('finds nothing wrong with a database set up as documented, except that test clusters lack fsync', async () => {
  const db = openPool(patient.urlOf(server));
  await prune(db, 3600);
  await db.close();
  for (const role of [server, owner]) {
    const { findings, summary } = await patient.examine({ role });
    expect(findings).toEqual([
      {
        code: 'fsync-off',
        severity: 'error',
        subject: 'fsync',
        what: 'fsync is off.',
        why: expect.any(String),
        advice: 'Turn it on.',
        sql: 'alter system set fsync = on; select pg_reload_conf()',
      },
    ]);
    expect(summary).toEqual({ errors: 1, warnings: 0, infos: 0 });
  }
});

it('writes nothing to the database', async () => {
  const next = async () =>
    (await patient.run('select pg_snapshot_xmax(pg_current_snapshot())::text as next')).rows[0].next;
  // Only autovacuum can write at the same time.
  await expect
    .poll(async () => {
      const before = await next();
      await patient.examine();
      return (await next()) === before;
    })
    .toBe(true);
});
