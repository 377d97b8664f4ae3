/** Which history of which database this is, and whether every change of the synced tables is captured. */

import { findTable, type Table } from '../db/catalog.js';
import type { Database } from '../db/database.js';
import {
  type CaptureRow,
  captureFault,
  captureSql,
  codeVersion,
  foreignSql,
  installedVersion,
  refuseNewer,
} from '../db/migrate.js';
import { SetupError } from '../errors.js';
import { digest } from '../protocol/cookie.js';
import { identifier } from '../sql.js';
import type { SyncedTable } from './states.js';

export interface Installation {
  readonly secret: string;
  /** System identifier and timeline of the cluster: a restored or promoted one differs. */
  readonly cluster: string;
  /** Changes with any change of the tables' columns, partitions or triggers. */
  readonly shape: string;
  readonly tables: readonly SyncedTable[];
}

const identitySql = `
  select m.secret, concat(s.system_identifier, '/', c.timeline_id) as cluster,
    ${foreignSql} as "foreign"
  from tidemark.meta m, pg_control_system() s, pg_control_checkpoint() c`;

/**
 * All that a view's rows depend on besides the rows of its tables. The xmin of a catalog row tells any change of it, and one
 * that was undone: a trigger disabled for a while lost changes. A partition that is truncated by itself has another file.
 */
const shapeSql = `
  with recursive type (oid) as (
    select atttypid from pg_attribute where attrelid = any ($1) and attnum > 0 and not attisdropped
    union
    select part.oid
    from type join pg_type t on t.oid = type.oid left join pg_range r on r.rngtypid = t.oid
    cross join lateral (
      select unnest(array[t.typelem, t.typbasetype, r.rngsubtype])
      union all
      select atttypid from pg_attribute where attrelid = t.typrelid and attnum > 0 and not attisdropped
    ) part (oid)
    where part.oid <> 0
  ), relation (oid) as (
    select unnest($1::oid[])
    union all
    select t.typrelid from type join pg_type t on t.oid = type.oid where t.typrelid <> 0
  )
  select concat_ws(' ', 'relation', c.oid, c.relnamespace::regnamespace, c.relname, c.relkind, c.relpersistence,
    pg_table_is_visible(c.oid), row_security_active(c.oid),
    case when c.relispartition then pg_relation_filenode(c.oid) end) as part
  from pg_class c join relation on relation.oid = c.oid
  union all
  select concat_ws(' ', 'column', attrelid, attnum, attname, atttypid, attisdropped, a.xmin)
  from pg_attribute a join relation on oid = attrelid where attnum > 0
  union all
  select concat_ws(' ', 'label', enumtypid, e.oid, enumlabel) from pg_enum e join type on type.oid = enumtypid
  union all
  select concat_ws(' ', 'trigger', tgrelid, tgname, tgenabled, xmin) from pg_trigger
  where tgrelid = any ($1) and tgname like 'tidemark%'
  union all
  select concat_ws(' ', 'partition', inhparent, inhrelid, xmin) from pg_inherits where inhparent = any ($1)
  order by part`;

/**
 * Reads the installation and checks that nothing can change unseen.
 * @throws SetupError when the schema is missing, or a table's changes are not captured.
 */
export async function readInstallation(db: Database, tables: readonly Table[]): Promise<Installation> {
  const version = await installedVersion(db);
  const code = await codeVersion();
  refuseNewer(version, code);
  if (version < code) {
    throw new SetupError(
      version === 0
        ? 'Tidemark is not installed in this database. Run `tidemark migrate`.'
        : `The schema "tidemark" has version ${version}, this code needs ${code}. Run \`tidemark migrate\`.`,
    );
  }
  const [identity] = await db.query<{ secret: string; cluster: string; foreign: boolean }>({ text: identitySql });
  if (identity!.foreign) {
    throw new SetupError('The change log is from another cluster, as after a restore. Run `tidemark migrate`.');
  }
  const current = await Promise.all(tables.map((table) => findTable(db, identifier(table.schema, table.name))));
  // A table that was made anew is found by its name twice.
  const found = new Map(tables.map((table, i) => current[i] ?? table).map((table) => [table.oid, table]));
  const synced = await checkCapture(db, [...found.values()]);
  const members = synced.flatMap((table) => table.members.map((member) => member.oid));
  const shape = await db.query<{ part: string }>({ text: shapeSql, values: [members] });
  const { secret, cluster } = identity!;
  return { secret, cluster, shape: digest(shape.map(({ part }) => part)), tables: synced };
}

async function checkCapture(db: Database, tables: readonly Table[]): Promise<SyncedTable[]> {
  const ids = await db.query<{ id: number; oid: number }>({
    text: 'select id, relation::oid as oid from tidemark.synced_table',
  });
  const rows = await db.query<CaptureRow>({ text: captureSql, values: [ids.map(({ id }) => id)] });
  return tables.map((table) => {
    const id = ids.find(({ oid }) => oid === table.oid)?.id;
    const fault = id === undefined ? 'it has never been captured' : captureFault(table, id, rows);
    if (id === undefined || fault !== undefined) {
      throw new SetupError(
        `Changes of ${table.schema}.${table.name} are not captured: ${fault}. Run \`tidemark migrate\`.`,
      );
    }
    return { ...table, id };
  });
}
