/** Looks up the tables that views read in Postgres's catalogs. */
import type { Database } from '../db/database.js';

/** A column of a primary key. */
export interface KeyColumn {
  readonly name: string;
  /** The SQL type, for casts, followed by the column's collation if that differs from the type's. */
  readonly type: string;
  /** As in `pg_attribute`. */
  readonly attnum: number;
}

/** A generated column that Postgres does not store, but computes when it reads a row. */
export interface VirtualColumn {
  readonly name: string;
  /** SQL over the table's other columns. */
  readonly expression: string;
}

/** A table, as the catalogs describe it. */
export interface Table {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** `r` table, `p` partitioned table. Changes cannot be captured for any other `pg_class.relkind`. */
  readonly kind: string;
  /** `p` permanent, `u` unlogged, `t` temporary. */
  readonly persistence: string;
  readonly isPartition: boolean;
  /** True for a child by INHERITS, not for a partition. */
  readonly isInheritanceChild: boolean;
  readonly hasInheritanceChildren: boolean;
  /** True if row-level security applies to the current role. */
  readonly rowSecurity: boolean;
  /** True if the current role can read the table, or some of its columns. */
  readonly isReadable: boolean;
  readonly columns: readonly string[];
  readonly virtualColumns: readonly VirtualColumn[];
  readonly primaryKey: readonly KeyColumn[];
  /**
   * True if a column has a type that can be altered, for example by renaming a label of an enum. The same row then has
   * another text, and the DDL does not wait for transactions that have written to the table.
   */
  readonly textMayChange: boolean;
  /** True if a row's text is the same in any session. `tidemark.has_fixed_text` determines this for the planner. */
  readonly hasFixedText: boolean;
  /** The table itself, then its partitions at every level. Each needs its own triggers. */
  readonly parts: readonly TablePart[];
}

/** Returns the name of a table as messages show it. */
export function tableLabel({ schema, name }: Pick<Table, 'schema' | 'name'>): string {
  return `${schema}.${name}`;
}

/** A table or one of its partitions. */
export interface TablePart {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** As in `Table.kind`. A table with a primary key has no foreign partitions. */
  readonly kind: string;
  /** As in `Table.persistence`. */
  readonly persistence: string;
  /** In the part's own order, which may differ from the parent's. */
  readonly columns: readonly string[];
}

/** SQL for a table's columns in order. `c` is its row in pg_class. */
const columnsOf = (c: string) => `array(
      select a.attname::text from pg_attribute a
      where a.attrelid = ${c}.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
    )`;

/** A pattern of names that XML does not escape, as SQL. `tidemark.has_fixed_text` finds types by their names in XML. */
const sameInXml = `'^[a-zA-Z]([a-zA-Z0-9]|_(?!x))*$'`;

/**
 * The names come from a subquery, which hides their number from the planner. Otherwise, the planner would estimate that
 * the cached generic plan costs more than a custom plan each time, and planning takes longer than running the query.
 */
const tablesByName = `
  select requested.ordinal::integer as ordinal, c.oid, n.nspname as schema, c.relname as name, c.relkind::text as kind,
    c.relpersistence::text as persistence, c.relispartition as "isPartition",
    not c.relispartition and exists (select from pg_inherits i where i.inhrelid = c.oid) as "isInheritanceChild",
    c.relkind <> 'p' and exists (select from pg_inherits i where i.inhparent = c.oid) as "hasInheritanceChildren",
    row_security_active(c.oid) as "rowSecurity",
    has_table_privilege(c.oid, 'select') or has_any_column_privilege(c.oid, 'select') as "isReadable",
    ${columnsOf('c')} as columns,
    coalesce((
      select json_agg(json_build_object('name', a.attname, 'expression', pg_get_expr(d.adbin, d.adrelid)))
      from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attgenerated = 'v'
    ), '[]') as "virtualColumns",
    coalesce((
      select json_agg(json_build_object('name', a.attname, 'attnum', a.attnum, 'type', concat(
        format_type(a.atttypid, a.atttypmod), ' collate ' || case when a.attcollation <> t.typcollation then a.attcollation::regcollation end
      )) order by k.ordinal)
      from pg_index i
      cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, ordinal)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      join pg_type t on t.oid = a.atttypid
      where i.indrelid = c.oid and i.indisprimary and k.ordinal <= i.indnkeyatts
    ), '[]') as "primaryKey",
    exists (
      select from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_type element on element.oid = t.typelem
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and coalesce(element.typnamespace, t.typnamespace) <> 'pg_catalog'::regnamespace
    ) as "textMayChange",
    not exists (
      select from pg_attribute a join pg_type t on t.oid = a.atttypid join pg_namespace tn on tn.oid = t.typnamespace
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.atttypid <> all ('{smallint, integer, bigint,
        numeric, boolean, text, character varying, character, uuid, json, jsonb, inet,
        boolean[], integer[], bigint[], numeric[], text[], character varying[], uuid[]}'::regtype[])
        and not (t.typtype = 'e' and tn.nspname ~ ${sameInXml} and t.typname ~ ${sameInXml})
    ) as "hasFixedText",
    (
      select json_agg(json_build_object('oid', m.oid::int8, 'schema', mn.nspname, 'name', m.relname, 'kind', m.relkind,
        'persistence', m.relpersistence, 'columns', ${columnsOf('m')}) order by m.oid <> c.oid, m.oid)
      from pg_class m join pg_namespace mn on mn.oid = m.relnamespace
      where m.oid = any (members.oids)
    ) as parts
  from unnest((select $1::text[])) with ordinality requested (name, ordinal)
  join pg_class c on c.oid = to_regclass(requested.name)
  join pg_namespace n on n.oid = c.relnamespace
  cross join lateral (
    select array(select c.oid union select t.relid from pg_partition_tree(c.oid) t where c.relkind = 'p') as oids
  ) members`;

/** Finds tables by their quoted, optionally qualified names on the search path. Undefined where there is none. */
export async function findTables(
  db: Pick<Database, 'query'>,
  names: readonly string[],
): Promise<(Table | undefined)[]> {
  const rows = await db.query<Table & { readonly ordinal: number }>({
    name: 'tidemark_tables',
    text: tablesByName,
    values: [names],
  });
  const found = new Map(rows.map(({ ordinal, ...table }) => [ordinal, table]));
  return names.map((_, i) => found.get(i + 1));
}

/** Finds a table by its quoted, optionally qualified name on the search path. */
export async function findTable(db: Pick<Database, 'query'>, name: string): Promise<Table | undefined> {
  const [table] = await findTables(db, [name]);
  return table;
}
