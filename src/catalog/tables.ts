/** What Postgres's catalogs say about the tables that views name. */
import type { Database } from '../db/database.js';

export interface KeyColumn {
  readonly name: string;
  /** The type as SQL writes it, for casts; with its collation, where the column has another than its type. */
  readonly type: string;
  /** As in `pg_attribute`. */
  readonly attnum: number;
}

/** A generated column that is not stored: what rows hold of it is computed when they are read. */
export interface VirtualColumn {
  readonly name: string;
  /** SQL over the table's other columns. */
  readonly expression: string;
}

export interface Table {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** `r` table, `p` partitioned table; any other `pg_class.relkind` cannot be followed. */
  readonly kind: string;
  /** `p` permanent, `u` unlogged, `t` temporary. */
  readonly persistence: string;
  readonly isPartition: boolean;
  /** By INHERITS, and not as partitions are. */
  readonly isInheritanceChild: boolean;
  readonly hasInheritanceChildren: boolean;
  /** Row-level security applies to the role that asks. */
  readonly rowSecurity: boolean;
  readonly columns: readonly string[];
  readonly virtualColumns: readonly VirtualColumn[];
  readonly primaryKey: readonly KeyColumn[];
  /**
   * One UPDATE may find or leave several rows under one key: its uniqueness can be deferred, or actions of foreign
   * keys, whose changes come to triggers as the UPDATE's own, change rows again.
   */
  readonly keysMayRepeat: boolean;
  /** The table itself, then its partitions at every level: each needs triggers of its own. */
  readonly members: readonly Member[];
}

export interface Member {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** As `Table.kind`. A table with a primary key has no foreign partitions. */
  readonly kind: string;
  /** As `Table.persistence`. */
  readonly persistence: string;
  /** In the order of its own rows, which may differ from the parent's. */
  readonly columns: readonly string[];
}

/** A table's columns in order; `c` is its row in pg_class. */
const columnsOf = (c: string) => `array(
      select a.attname::text from pg_attribute a
      where a.attrelid = ${c}.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
    )`;

const tableByName = `
  select c.oid, n.nspname as schema, c.relname as name, c.relkind::text as kind,
    c.relpersistence::text as persistence, c.relispartition as "isPartition",
    not c.relispartition and exists (select from pg_inherits i where i.inhrelid = c.oid) as "isInheritanceChild",
    c.relkind <> 'p' and exists (select from pg_inherits i where i.inhparent = c.oid) as "hasInheritanceChildren",
    row_security_active(c.oid) as "rowSecurity",
    ${columnsOf('c')} as columns,
    coalesce((
      select json_agg(json_build_object('name', a.attname, 'expression', pg_get_expr(d.adbin, d.adrelid)))
      from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attgenerated = 'v'
    ), '[]') as "virtualColumns",
    coalesce((
      select json_agg(json_build_object('name', a.attname, 'attnum', a.attnum, 'type', concat(
        format_type(a.atttypid, a.atttypmod), ' collate ' || case when a.attcollation <> t.typcollation then a.attcollation::regcollation end
      )) order by k.position)
      from pg_index i
      cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, position)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      join pg_type t on t.oid = a.atttypid
      where i.indrelid = c.oid and i.indisprimary and k.position <= i.indnkeyatts
    ), '[]') as "primaryKey",
    exists (
      select from pg_index i where i.indrelid = c.oid and i.indisprimary and not i.indimmediate
      union all
      select from pg_constraint f
      where (f.conrelid = c.oid or f.conrelid in (select t.relid from pg_partition_tree(c.oid) t)) and f.contype = 'f'
        and (f.confupdtype in ('c', 'n', 'd') or f.confdeltype in ('n', 'd'))
    ) as "keysMayRepeat",
    (
      select json_agg(json_build_object('oid', m.oid::int8, 'schema', mn.nspname, 'name', m.relname, 'kind', m.relkind,
        'persistence', m.relpersistence, 'columns', ${columnsOf('m')}) order by m.oid <> c.oid, m.oid)
      from pg_class m join pg_namespace mn on mn.oid = m.relnamespace
      where m.oid = c.oid
        or c.relkind = 'p' and m.oid in (select t.relid from pg_partition_tree(c.oid) t)
    ) as members
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.oid = to_regclass($1)`;

/** The table of this (quoted, perhaps qualified) name, as the search path finds it. */
export async function findTable(db: Pick<Database, 'query'>, name: string): Promise<Table | undefined> {
  const [table] = await db.query<Table>({ text: tableByName, values: [name] });
  return table;
}
