/** Checks that the connected role has the privileges that it needs, and that no role has too many. */
import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { identifier } from '../sql.js';
import { type Finding, finding } from './finding.js';

/** Finds the privileges in Tidemark's schema that `docs/operations/roles.md` grants to servers and that the role lacks. */
const missingPrivilegesSql = `
  with relation (oid, name) as (
    select oid, relname from pg_class where relnamespace = to_regnamespace('tidemark') and relkind = 'r'
  ), needed (name, privileges) as (
    select name, array['select'] from relation
    union all
    values ('client_group'::name, array['insert', 'delete']), ('client', array['insert', 'update', 'delete']),
      ('idempotency_key', array['insert', 'update', 'delete']), ('audit_log', array['insert', 'delete']),
      ('refusal', array['insert', 'update', 'delete']),
      ('change', array['delete']), ('heartbeat', array['insert', 'delete']), ('timeline', array['insert', 'delete']),
      ('view_catalog', array['insert', 'delete']), ('row_format', array['insert', 'delete'])
  )
  select 'usage on schema tidemark' as privilege
  from pg_namespace n where nspname = 'tidemark' and not has_schema_privilege(n.oid, 'usage')
  union all
  select concat(privilege, ' on tidemark.', relation.name)
  from needed join relation using (name) cross join unnest(privileges) privilege
  where not has_table_privilege(relation.oid, privilege)
  union all
  select format('update (%s) on tidemark.%s', field, name)
  from (values ('meta'::name, 'horizon'), ('meta', 'aging'), ('client_group', 'seen_at')) updated (name, field)
  join relation using (name)
  where not has_column_privilege(oid, field, 'update')
  union all
  select 'execute on function tidemark.disconnect(text)'
  from pg_proc p
  where pronamespace = to_regnamespace('tidemark') and proname = 'disconnect' and not has_function_privilege(p.oid, 'execute')`;

const unreadableSql = `
  select oid::integer from unnest($1::oid[]) oid
  where not has_table_privilege(oid, 'select') and not has_any_column_privilege(oid, 'select')`;

/**
 * Finds excessive privileges: a superuser that is connected or owns the capture functions, and roles that can read the
 * secret but lack a privilege that only servers need.
 */
const excessSql = `
  with relation (oid, name) as (
    select oid, relname from pg_class where relnamespace = to_regnamespace('tidemark') and relkind = 'r'
  )
  select
    (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
    (
      select min(rolname) from pg_proc p join pg_roles r on r.oid = p.proowner
      where pronamespace = to_regnamespace('tidemark') and proname like E'capture\\\\_%' and rolsuper
    ) as "captureOwner",
    array(
      select rolname::text from pg_roles r, relation meta, relation change
      where meta.name = 'meta' and change.name = 'change' and not rolsuper and rolname not like E'pg\\\\_%'
        and has_schema_privilege(r.oid, to_regnamespace('tidemark'), 'usage')
        and has_column_privilege(r.oid, meta.oid, 'secret', 'select')
        and not has_table_privilege(r.oid, change.oid, 'delete')
      order by rolname
    ) as readers`;

interface Excess {
  readonly isSuperuser: boolean;
  readonly captureOwner: string | null;
  readonly readers: readonly string[];
}

/** Reads the privileges in Tidemark's schema that the role lacks, as GRANT names them; none if there is no schema. */
export async function readMissingPrivileges(db: Database): Promise<string[]> {
  const rows = await db.query<{ privilege: string }>({ text: missingPrivilegesSql });
  return rows.map(({ privilege }) => privilege);
}

/** Reports the tables that the role cannot read. */
export async function checkTableRights(db: Database, role: string, tables: readonly Table[]): Promise<Finding[]> {
  const rows = await db.query<{ oid: number }>({ text: unreadableSql, values: [tables.map(({ oid }) => oid)] });
  const unreadable = tables.filter(({ oid }) => rows.some((row) => row.oid === oid));
  return unreadable.map(({ schema, name }) => missingRight(role, `select on ${identifier(schema, name)}`));
}

/** @param privilege as GRANT names it, including the object */
export function missingRight(role: string, privilege: string): Finding {
  return finding('missing-right', {
    subject: role,
    what: `The role ${role} lacks a right: ${privilege}.`,
    advice: 'Grant it, as the owner.',
    sql: `grant ${privilege} to ${identifier(role)}`,
  });
}

/** Reports excessive privileges. */
export async function checkExcess(db: Database, role: string): Promise<Finding[]> {
  const [excess] = await db.query<Excess>({ text: excessSql });
  return judgeExcess(role, excess!);
}

function judgeExcess(role: string, { isSuperuser, captureOwner, readers }: Excess): Finding[] {
  const findings: Finding[] = [];
  const roles = 'See docs/operations/roles.md.';
  if (isSuperuser) {
    const advice = `Connect as a role that has only the rights that a server needs. ${roles}`;
    findings.push(finding('superuser', { subject: role, what: `The connected role ${role} is a superuser.`, advice }));
  }
  if (captureOwner !== null) {
    const what = `The functions that capture changes belong to ${captureOwner}, which is a superuser.`;
    const advice = `Give the schema "tidemark" to the owner of your tables, or run \`tidemark uninstall\` and then \`tidemark migrate\` as that role; clients then start over. ${roles}`;
    findings.push(finding('capture-as-superuser', { subject: captureOwner, what, advice }));
  }
  for (const reader of readers) {
    findings.push(
      finding('secret-readable', {
        subject: reader,
        what: `The role ${reader} is not a server's, but can read the secret that signs cookies, and the change log.`,
        advice: 'Revoke its rights on the schema, or its membership in the role that has them.',
        sql: `revoke all on schema tidemark from ${identifier(reader)}`,
      }),
    );
  }
  return findings;
}
