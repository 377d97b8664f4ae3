import { afterEach, expect, it } from 'vitest';
import { only, owner, server, usePatient } from './patient.js';

const patient = usePatient('create table todo (id int primary key, owner_id text)');
const reader = 'doctor_reader';

afterEach(() =>
  patient.run(`do $$ begin
    if exists (select from pg_roles where rolname = '${reader}') then
      drop owned by ${reader}; drop role ${reader};
    end if;
  end $$`),
);

it.each([
  'usage on schema tidemark',
  'select on tidemark.meta',
  'select on tidemark.change',
  'insert on tidemark.client_group',
  'delete on tidemark.client_group',
  'update (seen_at) on tidemark.client_group',
  'insert on tidemark.client',
  'update on tidemark.client',
  'delete on tidemark.client',
  'insert on tidemark.idempotency_key',
  'update on tidemark.idempotency_key',
  'delete on tidemark.idempotency_key',
  'insert on tidemark.audit_log',
  'delete on tidemark.audit_log',
  'insert on tidemark.refusal',
  'update on tidemark.refusal',
  'delete on tidemark.refusal',
  'delete on tidemark.change',
  'insert on tidemark.heartbeat',
  'delete on tidemark.heartbeat',
  'insert on tidemark.timeline',
  'delete on tidemark.timeline',
  'insert on tidemark.view_catalog',
  'delete on tidemark.view_catalog',
  'insert on tidemark.row_format',
  'delete on tidemark.row_format',
  'update (horizon) on tidemark.meta',
  'update (aging) on tidemark.meta',
  'execute on function tidemark.disconnect(text)',
  'select on "public"."todo"',
])('missing-right reports that a server’s role lacks %s, and its SQL grants it', async (right) => {
  await patient.run(`revoke ${right} from ${server}`);
  const [found, ...others] = only(await patient.findings(), 'missing-right');
  expect(others).toEqual([]);
  expect(found).toMatchObject({ severity: 'error', subject: server, sql: `grant ${right} to "${server}"` });
  expect(found!.what).toContain(right);
  await patient.run(found!.sql!);
  expect(await patient.findings()).toEqual([]);
});

it('superuser reports a connection as a superuser', async () => {
  await patient.run(`alter role ${server} superuser`);
  expect(await patient.findings()).toMatchObject([{ code: 'superuser', severity: 'warning', subject: server }]);
  await patient.run(`alter role ${server} nosuperuser`);
});

it('capture-as-superuser reports capture that runs as a superuser', async () => {
  await patient.run(`alter role ${owner} superuser`);
  expect(await patient.findings()).toMatchObject([{ code: 'capture-as-superuser', subject: owner }]);
  await patient.run(`alter role ${owner} nosuperuser`);
});

it('secret-readable reports another role that can read the secret, and its SQL revokes the right', async () => {
  await patient.run(`create role ${reader}; grant select on tidemark.meta to ${reader}`);
  expect(await patient.findings()).toEqual([]);
  await patient.run(`grant usage on schema tidemark to ${reader}`);
  const [found, ...others] = await patient.findings();
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code: 'secret-readable', severity: 'warning', subject: reader });
  await patient.run(found!.sql!);
  expect(await patient.findings()).toEqual([]);
});

it('secret-readable reports a role that can read everything', async () => {
  await patient.run(`create role ${reader}; grant pg_read_all_data to ${reader}`);
  expect(await patient.findings()).toMatchObject([{ code: 'secret-readable', subject: reader }]);
});

it('the report contains no secret', async () => {
  const { rows } = await patient.run('select secret from tidemark.meta');
  await patient.run(`create role ${reader}; grant pg_read_all_data to ${reader}`);
  expect(JSON.stringify(await patient.examine())).not.toContain(rows[0].secret);
});
