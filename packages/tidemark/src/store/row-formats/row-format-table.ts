/** Reads and writes the recorded row formats of tables. */
import type { Database, Statement } from '../../db/database.js';
import type { RowFormat } from './row-format.js';

/** A table, and its current schema hash. */
export interface TableSchemaHash {
  /** Its ID in the change log. */
  readonly id: number;
  readonly oid: number;
  /** As in cookies. */
  readonly schemaHash: string;
}

/** Finds all row formats of a table, in order. */
export function findRowFormats(db: Pick<Database, 'query'>, id: number): Promise<RowFormat[]> {
  return db.query<RowFormat>({
    text: `select number, schema_hash as "schemaHash", relations, before::text, after::text from tidemark.row_format
where table_id = $1 order by number`,
    values: [id],
  });
}

/** Larger partitions are not read separately. Most clients see few of their rows, and are soon reset. */
export const maxBytes: number = 4 * 1024 * 1024;

/** True if the rows of partitions can be read separately, and are few. */
export async function areFewRows(db: Pick<Database, 'query'>, oids: readonly number[]): Promise<boolean> {
  const [row] = await db.query<{ areFew: boolean }>({
    text: `select bool_and(coalesce(
  has_table_privilege(oid, 'select') and not row_security_active(oid) and pg_relation_size(oid) <= $2, false
)) as "areFew" from unnest($1::oid[]) oid`,
    values: [oids, maxBytes],
  });
  return row!.areFew;
}

/** Finds the tables whose schema hash is not the newest recorded one, among those that the role can lock. */
export async function findUnrecorded<Item extends TableSchemaHash>(
  db: Pick<Database, 'query'>,
  tables: readonly Item[],
): Promise<Item[]> {
  const rows = await db.query<{ id: number }>({
    text: `select id from unnest($1::integer[], $2::oid[], $3::text[]) candidate (id, oid, schema_hash)
where has_table_privilege(oid, 'select') and schema_hash is distinct from (
  select schema_hash from tidemark.row_format where table_id = candidate.id order by number desc limit 1
)`,
    values: [tables.map(({ id }) => id), tables.map(({ oid }) => oid), tables.map(({ schemaHash }) => schemaHash)],
  });
  return tables.filter(({ id }) => rows.some((row) => row.id === id));
}

/**
 * Values of these types and of enums keep their text when Postgres converts them to another type without rewriting the
 * rows.
 */
const stableTextTypes = '{bool,int2,int8,float4,float8,numeric,text,varchar,date,uuid,json,jsonb}';

const relationsSql = `
  with recursive relation (root, oid, identity) as (
    select oid, oid, ''::text from unnest($1::oid[]) candidate (oid)
    union
    select root, inhrelid, concat_ws(' ', i.xmin, pg_relation_filenode(inhrelid), array(
      select (tgname, tgenabled, t.xmin)::text from pg_trigger t where tgrelid = inhrelid and tgname like 'tidemark%' order by tgname
    )::text)
    from relation join pg_inherits i on inhparent = relation.oid
    join pg_class c on c.oid = relation.oid and c.relkind = 'p'
  )
  select root as oid, json_agg(json_build_object('oid', relation.oid::int8, 'kind', c.relkind, 'identity', md5(identity),
    'width', c.relnatts, 'emptyAsOf', case when coalesce(pg_relation_size(c.oid), 0) = 0 then pg_current_snapshot()::text end, 'file', pg_relation_filenode(c.oid)::int8, 'columns', (
      select json_agg(json_build_object('attnum', a.attnum, 'column', root_column.attnum, 'type', concat(a.atttypid, '/', a.atttypmod),
        'version', a.xmin, 'hasStableText', t.typtype = 'e' or t.oid = any ('${stableTextTypes}'::regtype[]), 'isDomain', t.typtype = 'd') order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      join pg_attribute root_column on root_column.attrelid = root and root_column.attname = a.attname
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    )) order by relation.oid <> root, relation.oid) as relations
  from relation join pg_class c on c.oid = relation.oid group by root`;

/** The current row formats of a table and its partitions. */
export type RelationFormats = RowFormat['relations'];

/** Reads the current row formats of tables and their partitions, by the tables' OIDs. */
export async function readRelationFormats(
  db: Pick<Database, 'query'>,
  oids: readonly number[],
): Promise<ReadonlyMap<number, RelationFormats>> {
  const rows = await db.query<{ oid: number; relations: RelationFormats }>({ text: relationsSql, values: [oids] });
  return new Map(rows.map(({ oid, relations }) => [oid, relations]));
}

/** Until the end of the transaction, no other server records row formats, and no DDL changes the tables' columns. */
export function lockRowFormats(tables: readonly Pick<TableSchemaHash, 'oid'>[]): Statement {
  return { text: 'select tidemark.lock_row_formats($1)', values: [tables.map(({ oid }) => oid)] };
}

/** A table's current row format, to be recorded. */
export interface NewRowFormat extends TableSchemaHash {
  readonly relations: RelationFormats;
  /** A snapshot from before the table had this schema hash; null if none is known. */
  readonly before: string | null;
}

/**
 * Records row formats, after `lockRowFormats` in the same transaction. Its snapshot shows only transactions with lower
 * IDs than its own, so it stays valid after a crash. So do the `before` snapshots if the server has not restarted.
 * @param serverStart when the database server had started, as of the `before` snapshots
 */
export function recordRowFormats(rowFormats: readonly NewRowFormat[], serverStart: string): Statement {
  return {
    text: `insert into tidemark.row_format (table_id, number, schema_hash, relations, before, after)
select id, coalesce(newest.number, 0) + 1, candidate.schema_hash, relations, case when tidemark.server_start() = $5 then before end,
  pg_current_snapshot()
from unnest($1::integer[], $2::text[], $3::json[], $4::pg_snapshot[]) candidate (id, schema_hash, relations, before)
left join lateral (
  select number, schema_hash from tidemark.row_format where table_id = id order by number desc limit 1
) newest on true
where newest.schema_hash is distinct from candidate.schema_hash`,
    values: [
      rowFormats.map(({ id }) => id),
      rowFormats.map(({ schemaHash }) => schemaHash),
      rowFormats.map(({ relations }) => JSON.stringify(relations)),
      rowFormats.map(({ before }) => before),
      serverStart,
    ],
  };
}
