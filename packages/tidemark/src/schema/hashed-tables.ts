/** Reads the current schema of tables from the catalogs, with the same number of statements for all as for one. */
import { findTables, type Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { digest } from '../protocol/cookie.js';
import { identifier } from '../sql.js';
import type { SyncedTable } from '../store/patches/states.js';

/** A table, with the fingerprint and the hashes that reveal changes to it. */
export type HashedTable = Omit<SyncedTable, 'id'>;

/** Finds each table by its name, or by its OID if no table has that name any more. */
const fingerprintsSql = `
  select relation.oid, tidemark.relation_fingerprint(relation.oid)::text as fingerprint
  from unnest($1::text[], $2::oid[]) with ordinality requested (name, oid, ordinal)
  cross join lateral (select coalesce(to_regclass(requested.name)::oid, requested.oid)) relation (oid)
  order by ordinal`;

/** Used in place of a column's `attnum`: for the table itself, and for partitions and columns that no longer exist. */
const tableItself = 0;
const otherParts = -1;

/**
 * Reads, for each table, everything but its rows that a view's rows depend on. The xmin of a catalog row reveals every
 * change to it, even one that was reverted: changes are lost while a trigger is disabled, or while a table is the child
 * of another. A former parent stays marked as one (`relhassubclass`) for a long time. Truncating a single partition
 * gives it another file.
 *
 * Each part belongs to a column of the table, by its `attnum`, to the table itself, or to its partitions. The parts of
 * a type, such as the labels of an enum, belong to each column of the type.
 *
 * Arrays, and subqueries that cannot become joins, keep Postgres from scanning whole catalogs, however large they are.
 * The plan is kept for the same reason as in `findTables`.
 */
const schemaPartsSql = `
  with recursive member (root, oid) as (
    select oid, oid from unnest((select $1::oid[])) requested (oid)
    union
    select root, inhrelid from member join pg_inherits on inhparent = member.oid
  ), attribute (root, relation, attnum, type, col) as (
    select root, a.attrelid, a.attnum, a.atttypid, case when a.attisdropped then ${otherParts} else (
      select root_column.attnum from pg_attribute root_column where root_column.attrelid = root and root_column.attname = a.attname offset 0
    ) end
    from pg_attribute a join member on a.attrelid = member.oid
    where a.attrelid = any (array(select oid from member)) and a.attnum > 0
  ), type (root, oid, col) as (
    select root, type, col from attribute where col <> ${otherParts}
    union
    select root, part.oid, col from type cross join lateral (
      select unnest(array[t.typelem, t.typbasetype, r.rngsubtype]
        || array(select atttypid from pg_attribute where attrelid = t.typrelid and attnum > 0 and not attisdropped))
      from pg_type t left join pg_range r on t.oid in (r.rngtypid, r.rngmultitypid)
      where t.oid = type.oid offset 0
    ) part (oid)
    where part.oid <> 0
  ), relation (root, oid, col, is_type) as (
    select root, oid, case when oid <> root then ${otherParts} end, false from member
    union all
    select root, typrelid, col, true from pg_type t join type on type.oid = t.oid
    where t.oid = any (array(select oid from type)) and typrelid <> 0
  ), part (root, col, is_type, part) as (
    select root, coalesce(relation.col, ${tableItself}), is_type, concat_ws(' ', 'relation', c.oid, c.relnamespace::regnamespace, c.relname, c.relkind, c.relpersistence,
      pg_table_is_visible(c.oid), row_security_active(c.oid), c.relkind = 'r' and c.relhassubclass,
      case when c.relispartition then pg_relation_filenode(c.oid) end)
    from pg_class c join relation on relation.oid = c.oid where c.oid = any (array(select oid from relation))
    union all
    select relation.root, coalesce(relation.col, attribute.col, ${tableItself}), is_type,
      concat_ws(' ', 'column', attrelid, a.attnum, attname, atttypid, attisdropped, a.xmin)
    from pg_attribute a join relation on relation.oid = attrelid
    left join attribute on attribute.root = relation.root and attribute.relation = attrelid and attribute.attnum = a.attnum
    where attrelid = any (array(select oid from relation)) and a.attnum > 0
    union all
    select root, col, true, concat_ws(' ', 'label', enumtypid, e.oid, enumlabel, e.xmin)
    from pg_enum e join type on type.oid = enumtypid where enumtypid = any (array(select oid from type))
    union all
    select root, case when tgrelid = root then ${tableItself} else ${otherParts} end, false, concat_ws(' ', 'trigger', tgrelid, tgname, tgenabled, t.xmin)
    from pg_trigger t join member on member.oid = tgrelid
    where tgrelid = any (array(select oid from member)) and tgname like 'tidemark%'
    union all
    select root, case when relkind = 'p' then ${otherParts} else ${tableItself} end, false, concat_ws(' ', 'inheritance', inhparent, inhrelid, i.xmin)
    from pg_inherits i join member on member.oid = inhparent join pg_class c on c.oid = inhparent where inhparent = any (array(select oid from member))
    union all
    select inhrelid, ${tableItself}, false, concat_ws(' ', 'inheritance', inhparent, inhrelid, i.xmin) from pg_inherits i
    where inhrelid = any ((select $1)::oid[])
    union all
    select indrelid, ${tableItself}, false, concat_ws(' ', 'key', indkey) from pg_index where indrelid = any ((select $1)::oid[]) and indisprimary
  )
  select root as oid, json_agg(json_build_array(col, is_type, part) order by part, col) as parts from part group by root`;

/**
 * Reads the current schema of tables, and returns them by OID. If a table changes during the read, later statements
 * find another fingerprint, or the next read finds another schema hash.
 */
export async function readHashedTables(
  db: Pick<Database, 'query'>,
  tables: readonly Table[],
): Promise<ReadonlyMap<number, HashedTable>> {
  const names = tables.map(({ schema, name }) => identifier(schema, name));
  const fingerprints = await db.query<{ oid: number; fingerprint: string }>({
    name: 'tidemark_fingerprints',
    text: fingerprintsSql,
    values: [names, tables.map(({ oid }) => oid)],
  });
  const oids = fingerprints.map(({ oid }) => oid);
  const schemaParts = await db.query<{ oid: number; parts: Part[] }>({
    name: 'tidemark_schema_parts',
    text: schemaPartsSql,
    values: [oids],
  });
  const partsOf = new Map(schemaParts.map(({ oid, parts }) => [oid, parts]));
  const current = await findTables(db, names);
  // If a table was dropped and created again, its name is in the list twice and finds the same table.
  return new Map(
    fingerprints.map(({ oid, fingerprint }, i) => {
      const table = current[i] ?? tables[i]!;
      return [table.oid, { ...table, fingerprint, ...hashParts(partsOf.get(oid) ?? []) }];
    }),
  );
}

type Part = readonly [column: number, isOfType: boolean, part: string];

type SchemaHashes = Pick<SyncedTable, 'schemaHash' | 'ownHash' | 'columnHashes' | 'typeHashes'>;

function hashParts(parts: readonly Part[]): SchemaHashes {
  const partsOf = (column: number) => parts.flatMap(([of, , part]) => (of === column ? [part] : []));
  // Built-in types have no parts.
  const ofTypes = new Map<number, string[]>();
  for (const [column, isOfType, part] of parts) {
    if (isOfType) ofTypes.set(column, [...(ofTypes.get(column) ?? []), part]);
  }
  const columns = [...new Set(parts.map(([column]) => column))].filter(
    (column) => column !== tableItself && column !== otherParts,
  );
  return {
    schemaHash: digest([...new Set(parts.map(([, , part]) => part))]),
    ownHash: digest(partsOf(tableItself)),
    columnHashes: Object.fromEntries(columns.map((column) => [column, digest(partsOf(column))])),
    typeHashes: Object.fromEntries([...ofTypes].map(([column, texts]) => [column, digest(texts)])),
  };
}
