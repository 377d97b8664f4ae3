import { afterEach, expect, it } from 'vitest';
import { server, usePatient } from './patient.js';

const patient = usePatient('create table todo (id int primary key, owner_id text)');

afterEach(async () => {
  await patient.run(`alter role ${server} reset all; alter role ${server} connection limit -1`);
  await patient.run(`do $$ begin execute format('alter database %I connection limit -1', current_database()); end $$`);
});

it.each([
  ['synchronous-commit-off', 'warning', 'synchronous_commit', 'off'],
  ['replication-role', 'warning', 'session_replication_role', 'replica'],
  ['short-timeout', 'warning', 'statement_timeout', '9999'],
  ['read-only', 'error', 'default_transaction_read_only', 'on'],
])('%s is reported, and its SQL resolves it', async (code, severity, setting, value) => {
  await patient.run(`alter role ${server} set ${setting} = ${value}`);
  const [found, ...others] = await patient.findings();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code, severity, subject: setting });
  await patient.run(found!.sql!);
  expect(await patient.findings()).toEqual([]);
});

it('few-connections reports a low limit for the role or for the database', async () => {
  await patient.run(`alter role ${server} connection limit 19`);
  const [found, ...others] = await patient.findings();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code: 'few-connections', severity: 'warning', subject: server });
  expect(found!.what).toContain('19 connections, and each server opens up to 10');
  await patient.run(`alter role ${server} connection limit 20`);
  expect(await patient.findings()).toEqual([]);
  await patient.run(`do $$ begin execute format('alter database %I connection limit 12', current_database()); end $$`);
  expect((await patient.findings())[0]!.what).toContain('12 connections');
});
