/** What the connected role may do, and who else may do too much. */
import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { identifier } from '../sql.js';
import { type Finding, finding } from './finding.js';

/** What a server needs in Tidemark's schema, as `docs/operations.md` grants it, where the role lacks it. */
const lackingSql = `
  with relation (oid, name) as (
    select oid, relname from pg_class where relnamespace = to_regnamespace('tidemark') and relkind = 'r'
  ), needed (name, privileges) as (
    select name, array['select'] from relation
    union all
    values ('client_group'::name, array['insert', 'delete']), ('client', array['insert', 'update', 'delete']),
      ('idempotency_key', array['insert', 'update', 'delete']), ('journal', array['insert', 'delete']),
      ('refusal', array['insert', 'update', 'delete']),
      ('change', array['delete']), ('tick', array['insert', 'delete']), ('timeline', array['insert', 'delete']),
      ('view_text', array['insert', 'delete']), ('layout', array['insert', 'delete'])
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
 * Who may do too much: a superuser that is connected or owns the functions of capture, and roles that read the secret
 * but have no right that only servers need.
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

/** The rights in Tidemark's schema that the role lacks, as GRANT names them; none if there is no schema. */
export async function readLacking(db: Database): Promise<string[]> {
  const rows = await db.query<{ privilege: string }>({ text: lackingSql });
  return rows.map(({ privilege }) => privilege);
}

/** Which of the tables the role cannot read. */
export async function checkTableRights(db: Database, role: string, tables: readonly Table[]): Promise<Finding[]> {
  const rows = await db.query<{ oid: number }>({ text: unreadableSql, values: [tables.map(({ oid }) => oid)] });
  const unreadable = tables.filter(({ oid }) => rows.some((row) => row.oid === oid));
  return unreadable.map(({ schema, name }) => missingRight(role, `select on ${identifier(schema, name)}`));
}

/** @param privilege as GRANT names it, with what it is on */
export function missingRight(role: string, privilege: string): Finding {
  return finding('missing-right', {
    subject: role,
    what: `The role ${role} lacks a right: ${privilege}.`,
    advice: 'Grant it, as the owner.',
    sql: `grant ${privilege} to ${identifier(role)}`,
  });
}

/** Who may do more than they should. */
export async function checkExcess(db: Database, role: string): Promise<Finding[]> {
  const [excess] = await db.query<Excess>({ text: excessSql });
  return judgeExcess(role, excess!);
}

function judgeExcess(role: string, { isSuperuser, captureOwner, readers }: Excess): Finding[] {
  const findings: Finding[] = [];
  const roles = 'See "Roles" in docs/operations.md.';
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
