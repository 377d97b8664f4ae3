/** The settings of the server and of the connected role that matter to Tidemark. */
import type { Database } from '../db/database.js';
import { identifier } from '../sql.js';
import { type Finding, finding } from './finding.js';

/** Reports shorter timeouts, because mutators may take longer on a busy database. */
const minTimeoutMs = 10_000;

/** Reads the time limits with which the session began, since Tidemark's own statements run without any. */
const settingsSql = `
  select current_setting('fsync') as fsync, current_setting('synchronous_commit') as "synchronousCommit",
    current_setting('session_replication_role') as "replicationRole",
    current_setting('default_transaction_read_only') as "readOnly",
    current_setting('autovacuum') = 'on' and current_setting('track_counts') = 'on' as autovacuum,
    pg_is_in_recovery() as "isStandby",
    array(
      select json_build_object('name', name, 'value', reset_val || ' ' || unit)
      from pg_settings where name in ('statement_timeout', 'transaction_timeout')
        and reset_val::integer between 1 and ${minTimeoutMs} - 1 order by name
    ) as "shortTimeouts",
    least(
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
        - coalesce(current_setting('reserved_connections', true), '0')::integer,
      (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
      (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)
    ) as connections`;

interface Settings {
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly replicationRole: string;
  readonly readOnly: string;
  readonly autovacuum: boolean;
  readonly isStandby: boolean;
  readonly shortTimeouts: readonly { readonly name: string; readonly value: string }[];
  /** The number of connections that the role can have if no other role has any. */
  readonly connections: number;
}

/** Checks the settings. `role` is the connected role. */
export async function checkSettings(db: Database, role: string): Promise<Finding[]> {
  const [settings] = await db.query<Settings>({ text: settingsSql });
  return judgeSettings(settings!, role, db.connections);
}

function judgeSettings(settings: Settings, role: string, perServer: number): Finding[] {
  const findings: Finding[] = [];
  const forRole = (setting: string) => `alter role ${identifier(role)} set ${setting}`;
  const forServer = (setting: string) => `alter system set ${setting}; select pg_reload_conf()`;
  if (settings.fsync === 'off') {
    const sql = forServer('fsync = on');
    findings.push(finding('fsync-off', { subject: 'fsync', what: 'fsync is off.', advice: 'Turn it on.', sql }));
  }
  if (settings.synchronousCommit === 'off') {
    const [what, advice] = ['synchronous_commit is off.', 'Turn it on, at least for every role that writes.'];
    const sql = forRole('synchronous_commit = on');
    findings.push(finding('synchronous-commit-off', { subject: 'synchronous_commit', what, advice, sql }));
  }
  if (settings.replicationRole !== 'origin') {
    const what = `session_replication_role is ${settings.replicationRole}.`;
    const advice = 'Reset it wherever it is set: for the role, the database or the connection.';
    const sql = `alter role ${identifier(role)} reset session_replication_role`;
    findings.push(finding('replication-role', { subject: 'session_replication_role', what, advice, sql }));
  }
  if (settings.readOnly === 'on' && !settings.isStandby) {
    const [what, advice] = ['default_transaction_read_only is on.', 'Turn it off for the role of the servers.'];
    const sql = forRole('default_transaction_read_only = off');
    findings.push(finding('read-only', { subject: 'default_transaction_read_only', what, advice, sql }));
  }
  if (!settings.autovacuum) {
    const [what, advice] = ['autovacuum or track_counts is off.', 'Turn both on.'];
    const sql = forServer('autovacuum = on; alter system set track_counts = on');
    findings.push(finding('autovacuum-off', { subject: 'autovacuum', what, advice, sql }));
  }
  for (const { name, value } of settings.shortTimeouts) {
    const advice = 'Set it to 10 seconds or more, or to 0 for none: servers have limits of their own.';
    const sql = forRole(`${name} = '10s'`);
    findings.push(finding('short-timeout', { subject: name, what: `${name} is ${value}.`, advice, sql }));
  }
  if (settings.connections < 2 * perServer) {
    const what = `The role ${role} can have ${settings.connections} connections, and each server opens up to ${perServer}.`;
    const advice =
      'Raise max_connections, or the limit of the role or the database; or give the servers a smaller pool.';
    findings.push(finding('few-connections', { subject: role, what, advice }));
  }
  if (settings.isStandby) {
    const what = 'The database is a standby.';
    findings.push(finding('standby', { what, advice: 'Run this on the primary as well.' }));
  }
  return findings;
}
