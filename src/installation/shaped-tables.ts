/** The tables that views read, as the catalogs describe them at the moment, in as many statements for all as for one. */
import { findTables, type Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { digest } from '../protocol/cookie.js';
import { identifier } from '../sql.js';
import type { SyncedTable } from '../store/patches/states.js';

/** A table, and what reveals that it has changed. */
export type ShapedTable = Omit<SyncedTable, 'id'>;

/** Finds each table by its name; if there is no such table any more, by its OID. */
const outlinesSql = `
  select found.oid, tidemark.outline(found.oid)::text as outline
  from unnest($1::text[], $2::oid[]) with ordinality asked (name, oid, place)
  cross join lateral (select coalesce(to_regclass(asked.name)::oid, asked.oid)) found (oid)
  order by place`;

/** In place of a column's `attnum`: the table itself; and partitions and columns that there are no longer. */
const own = 0;
const others = -1;

/**
 * All that a view's rows depend on, apart from the rows of its tables, for each of some tables. The xmin of a catalog row
 * reveals every change to it, even one that was undone: while a trigger was disabled, or a table was another's child,
 * changes were lost. A table that was a parent stays marked as one for a long time. A partition that is truncated by
 * itself gets another file.
 *
 * Each part belongs to a column of the table, by its `attnum`, to the table itself, or to its partitions. The parts of
 * a type, such as the labels of an enum, belong to each column of the type.
 *
 * With arrays, and with subqueries that cannot become joins, no catalog is read whole, however many tables it describes. The
 * plan is kept for the same reason as in `findTables`.
 */
const shapesSql = `
  with recursive member (root, oid) as (
    select oid, oid from unnest((select $1::oid[])) asked (oid)
    union
    select root, inhrelid from member join pg_inherits on inhparent = member.oid
  ), attribute (root, relation, attnum, type, col) as (
    select root, a.attrelid, a.attnum, a.atttypid, case when a.attisdropped then ${others} else (
      select own.attnum from pg_attribute own where own.attrelid = root and own.attname = a.attname offset 0
    ) end
    from pg_attribute a join member on a.attrelid = member.oid
    where a.attrelid = any (array(select oid from member)) and a.attnum > 0
  ), type (root, oid, col) as (
    select root, type, col from attribute where col <> ${others}
    union
    select root, part.oid, col from type cross join lateral (
      select unnest(array[t.typelem, t.typbasetype, r.rngsubtype]
        || array(select atttypid from pg_attribute where attrelid = t.typrelid and attnum > 0 and not attisdropped))
      from pg_type t left join pg_range r on t.oid in (r.rngtypid, r.rngmultitypid)
      where t.oid = type.oid offset 0
    ) part (oid)
    where part.oid <> 0
  ), relation (root, oid, col, is_type) as (
    select root, oid, case when oid <> root then ${others} end, false from member
    union all
    select root, typrelid, col, true from pg_type t join type on type.oid = t.oid
    where t.oid = any (array(select oid from type)) and typrelid <> 0
  ), part (root, col, is_type, part) as (
    select root, coalesce(relation.col, ${own}), is_type, concat_ws(' ', 'relation', c.oid, c.relnamespace::regnamespace, c.relname, c.relkind, c.relpersistence,
      pg_table_is_visible(c.oid), row_security_active(c.oid), c.relkind = 'r' and c.relhassubclass,
      case when c.relispartition then pg_relation_filenode(c.oid) end)
    from pg_class c join relation on relation.oid = c.oid where c.oid = any (array(select oid from relation))
    union all
    select relation.root, coalesce(relation.col, attribute.col, ${own}), is_type,
      concat_ws(' ', 'column', attrelid, a.attnum, attname, atttypid, attisdropped, a.xmin)
    from pg_attribute a join relation on relation.oid = attrelid
    left join attribute on attribute.root = relation.root and attribute.relation = attrelid and attribute.attnum = a.attnum
    where attrelid = any (array(select oid from relation)) and a.attnum > 0
    union all
    select root, col, true, concat_ws(' ', 'label', enumtypid, e.oid, enumlabel, e.xmin)
    from pg_enum e join type on type.oid = enumtypid where enumtypid = any (array(select oid from type))
    union all
    select root, case when tgrelid = root then ${own} else ${others} end, false, concat_ws(' ', 'trigger', tgrelid, tgname, tgenabled, t.xmin)
    from pg_trigger t join member on member.oid = tgrelid
    where tgrelid = any (array(select oid from member)) and tgname like 'tidemark%'
    union all
    select root, case when relkind = 'p' then ${others} else ${own} end, false, concat_ws(' ', 'inheritance', inhparent, inhrelid, i.xmin)
    from pg_inherits i join member on member.oid = inhparent join pg_class c on c.oid = inhparent where inhparent = any (array(select oid from member))
    union all
    select inhrelid, ${own}, false, concat_ws(' ', 'inheritance', inhparent, inhrelid, i.xmin) from pg_inherits i
    where inhrelid = any ((select $1)::oid[])
    union all
    select indrelid, ${own}, false, concat_ws(' ', 'key', indkey) from pg_index where indrelid = any ((select $1)::oid[]) and indisprimary
  )
  select root as oid, json_agg(json_build_array(col, is_type, part) order by part, col) as parts from part group by root`;

/**
 * Reads tables as they are now, by OID. If one changes while it is being read, this will be noticed: later statements will
 * find another outline, or the next reading another shape.
 */
export async function readShaped(
  db: Pick<Database, 'query'>,
  tables: readonly Table[],
): Promise<ReadonlyMap<number, ShapedTable>> {
  const names = tables.map(({ schema, name }) => identifier(schema, name));
  const outlined = await db.query<{ oid: number; outline: string }>({
    name: 'tidemark_outlines',
    text: outlinesSql,
    values: [names, tables.map(({ oid }) => oid)],
  });
  const oids = outlined.map(({ oid }) => oid);
  const shapes = await db.query<{ oid: number; parts: Part[] }>({
    name: 'tidemark_shapes',
    text: shapesSql,
    values: [oids],
  });
  const partsOf = new Map(shapes.map(({ oid, parts }) => [oid, parts]));
  const current = await findTables(db, names);
  // If a table was dropped and created again, its name finds it twice.
  return new Map(
    outlined.map(({ oid, outline }, i) => {
      const table = current[i] ?? tables[i]!;
      return [table.oid, { ...table, outline, ...shapesOf(partsOf.get(oid) ?? []) }];
    }),
  );
}

type Part = readonly [column: number, isOfType: boolean, part: string];

type Shapes = Pick<SyncedTable, 'shape' | 'ownShape' | 'columnShapes' | 'typeShapes'>;

function shapesOf(parts: readonly Part[]): Shapes {
  const partsOf = (column: number) => parts.flatMap(([of, , part]) => (of === column ? [part] : []));
  // Types that are built in have no parts.
  const ofTypes = new Map<number, string[]>();
  for (const [column, isOfType, part] of parts) {
    if (isOfType) ofTypes.set(column, [...(ofTypes.get(column) ?? []), part]);
  }
  const columns = [...new Set(parts.map(([column]) => column))].filter((column) => column !== own && column !== others);
  return {
    shape: digest([...new Set(parts.map(([, , part]) => part))]),
    ownShape: digest(partsOf(own)),
    columnShapes: Object.fromEntries(columns.map((column) => [column, digest(partsOf(column))])),
    typeShapes: Object.fromEntries([...ofTypes].map(([column, texts]) => [column, digest(texts)])),
  };
}
