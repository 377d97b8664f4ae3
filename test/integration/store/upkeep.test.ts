import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { noAuditLog } from '../../../packages/tidemark/src/store/audit-log.js';
import { SeenGroups } from '../../../packages/tidemark/src/store/seen-groups.js';
import { Upkeep } from '../../../packages/tidemark/src/store/upkeep.js';
import type { TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { createSynced, wholeTable } from '../../support/synced.js';

let database: TestDatabase;
let db: Database;
let upkeep: Upkeep;

beforeEach(async () => {
  database = await createSynced('create table t (id int primary key)', wholeTable('t'));
  db = openPool(database.url);
  const retention = { retentionSeconds: 3600, retentionBytes: Infinity, clientRetentionSeconds: 3600 };
  upkeep = new Upkeep({ db, log: silent, seenGroups: new SeenGroups(), auditLog: noAuditLog, ...retention });
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

it('upkeep reports a failure until it succeeds', async () => {
  await database.pool.query('alter table tidemark.heartbeat rename to gone');
  await expect(upkeep.run()).rejects.toThrow('heartbeat');
  expect(upkeep.state()).toEqual({ isFailing: true, heldSeconds: 0 });
  await database.pool.query('alter table tidemark.gone rename to heartbeat');
  await upkeep.run();
  expect(upkeep.state()).toEqual({ isFailing: false, heldSeconds: 0 });
});

it('upkeep reports for how long an open transaction has prevented the deletion of changes', async () => {
  const writer = new pg.Client(database.url);
  await writer.connect();
  await writer.query('begin; select pg_current_xact_id()');
  await upkeep.run();
  await database.pool.query(`update tidemark.heartbeat set at = at - interval '2 hours'`);
  await upkeep.run();
  expect(upkeep.state().heldSeconds).toBeGreaterThanOrEqual(7200);
  await writer.end();
  await expect
    .poll(async () => {
      await upkeep.run();
      return upkeep.state();
    })
    .toEqual({ isFailing: false, heldSeconds: 0 });
});

it('upkeep deletes refusals that are older than a day', async () => {
  await database.pool.query(`
    insert into tidemark.refusal (user_id, profile_id, client_id, mutation_id, code, at)
    select 'ann', 'p', 'c', hours, 'internal',
      to_char(now() at time zone 'UTC' - make_interval(hours => hours), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    from unnest('{0, 23, 25, 1000}'::int[]) hours`);
  await upkeep.run();
  const { rows } = await database.pool.query('select mutation_id::int as hours from tidemark.refusal order by 1');
  expect(rows.map(({ hours }) => hours)).toEqual([0, 23]);
});
