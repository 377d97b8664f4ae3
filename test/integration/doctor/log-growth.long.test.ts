import { beforeEach, expect, it } from 'vitest';
import { only, usePatient } from './patient.js';

const patient = usePatient('create table todo (id int primary key, owner_id text)');
const log = 'tidemark.change';
const gigabyte = 1024 ** 3;

beforeEach(() => patient.run('delete from tidemark.heartbeat'));

/** Inserts heartbeats over this many hours, the newest a minute old, with this many bytes logged before each. */
const insertHeartbeats = (hours: number, bytes: number, perHour = 1) =>
  patient.run(`insert into tidemark.heartbeat (at, oldest_xid, snapshot, system_identifier, bytes)
    select now() - make_interval(secs => i * 3600.0 / ${perHour}, mins => 1), pg_snapshot_xmin(s), s, 1, ${bytes}
    from pg_current_snapshot() s, generate_series(0, ${hours * perHour}) i`);

it('nothing is reported before a server has run', async () => {
  expect(await patient.findings()).toEqual([]);
});

it('no-server reports that no server has run for a while', async () => {
  await insertHeartbeats(0, 0);
  expect(await patient.findings()).toEqual([]);
  await patient.run(`update tidemark.heartbeat set at = at - interval '10 minutes'`);
  const [found, ...others] = await patient.findings();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code: 'no-server', severity: 'warning' });
  expect(found!.what).toContain('0.2 hours');
});

it('short-reach reports a log that grows too fast to reach back far enough', async () => {
  await insertHeartbeats(5, gigabyte);
  const [found, ...others] = await patient.findings();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code: 'short-reach', severity: 'warning', subject: log });
  expect(found!.what).toMatch(
    /grows by 1024\.0 MB an hour: the 10240\.0 MB of .* reach back 10\.0 hours, and .* asks for 168\.0 hours/,
  );
  expect(await patient.findings({ retentionSeconds: 9 * 3600 })).toEqual([]);
  expect(await patient.findings({ retentionBytes: 200 * gigabyte })).toEqual([]);
});

it('nothing is reported about growth that was measured for less than an hour', async () => {
  await insertHeartbeats(0.9, 100 * gigabyte, 10);
  expect(await patient.findings()).toEqual([]);
});

it('log-over-limit reports a log that takes more of the disk than allowed', async () => {
  const { rows } = await patient.run(`select pg_total_relation_size('${log}')::float8 as bytes`);
  expect(await patient.findings({ retentionBytes: rows[0].bytes / 2 })).toEqual([]);
  const found = await patient.findings({ retentionBytes: rows[0].bytes / 2 - 1 });
  expect(found).toMatchObject([{ code: 'log-over-limit', severity: 'warning', subject: log }]);
});

it('autovacuum-off and vacuum-behind report a log that is not vacuumed, and their SQL vacuums it', async () => {
  await patient.run(`alter table ${log} set (autovacuum_enabled = off)`);
  const [off] = await patient.findings();
  expect(off).toMatchObject({ code: 'autovacuum-off', severity: 'warning', subject: log });

  await patient.run(`insert into todo select i, 'ann' from generate_series(1, 10001) i; delete from ${log}`);
  await expect.poll(async () => only(await patient.findings(), 'vacuum-behind')).toHaveLength(1);
  const [behind] = only(await patient.findings(), 'vacuum-behind');
  expect(behind!.what).toContain('10001 dead rows');
  for (const statement of behind!.sql!.split('; ')) await patient.run(statement);
  await patient.run(off!.sql!);
  await expect.poll(() => patient.findings()).toEqual([]);
});
