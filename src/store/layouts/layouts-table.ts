/** The layouts of tables, as the database has them. */
import type { Database, Statement } from '../../db/database.js';
import type { Layout } from './layout.js';

/** A table, and the shape that it has. */
export interface Shape {
  /** In the change log. */
  readonly id: number;
  readonly oid: number;
  /** As cookies have it. */
  readonly shape: string;
}

/** Finds all layouts of a table, in order. */
export function findLayouts(db: Pick<Database, 'query'>, id: number): Promise<Layout[]> {
  return db.query<Layout>({
    text: `select number, shape, members, before::text, after::text from tidemark.layout
where table_id = $1 order by number`,
    values: [id],
  });
}

/** Partitions with more bytes are not read by themselves. Most clients see few of their rows, and are soon reset. */
export const maxBytes: number = 4 * 1024 * 1024;

/** Whether the rows of partitions can be read by themselves, and are few. */
export async function areFewRows(db: Pick<Database, 'query'>, oids: readonly number[]): Promise<boolean> {
  const [row] = await db.query<{ isSo: boolean }>({
    text: `select bool_and(coalesce(
  has_table_privilege(oid, 'select') and not row_security_active(oid) and pg_relation_size(oid) <= $2, false
)) as "isSo" from unnest($1::oid[]) oid`,
    values: [oids, maxBytes],
  });
  return row!.isSo;
}

/** Which of the shapes are not the newest that are recorded, as far as the role may hold the tables as they are. */
export async function unrecorded<Found extends Shape>(
  db: Pick<Database, 'query'>,
  shapes: readonly Found[],
): Promise<Found[]> {
  const rows = await db.query<{ id: number }>({
    text: `select id from unnest($1::integer[], $2::oid[], $3::text[]) asked (id, oid, shape)
where has_table_privilege(oid, 'select') and shape is distinct from (
  select shape from tidemark.layout where table_id = asked.id order by number desc limit 1
)`,
    values: [shapes.map(({ id }) => id), shapes.map(({ oid }) => oid), shapes.map(({ shape }) => shape)],
  });
  return shapes.filter(({ id }) => rows.some((row) => row.id === id));
}

/**
 * Of these types and of enums, no value is shown as another text by a type that Postgres turns it into without writing rows
 * anew.
 */
const firm = '{bool,int2,int8,float4,float8,numeric,text,varchar,date,uuid,json,jsonb}';

const membersSql = `
  with recursive member (root, oid, identity) as (
    select oid, oid, ''::text from unnest($1::oid[]) asked (oid)
    union
    select root, inhrelid, concat_ws(' ', i.xmin, pg_relation_filenode(inhrelid), array(
      select (tgname, tgenabled, t.xmin)::text from pg_trigger t where tgrelid = inhrelid and tgname like 'tidemark%' order by tgname
    )::text)
    from member join pg_inherits i on inhparent = member.oid
    join pg_class c on c.oid = member.oid and c.relkind = 'p'
  )
  select root as oid, json_agg(json_build_object('oid', member.oid::int8, 'kind', c.relkind, 'identity', md5(identity),
    'width', c.relnatts, 'emptyAsOf', case when coalesce(pg_relation_size(c.oid), 0) = 0 then pg_current_snapshot()::text end, 'file', pg_relation_filenode(c.oid)::int8, 'columns', (
      select json_agg(json_build_object('place', a.attnum, 'column', own.attnum, 'type', concat(a.atttypid, '/', a.atttypmod),
        'version', a.xmin, 'isFirm', t.typtype = 'e' or t.oid = any ('${firm}'::regtype[]), 'isDomain', t.typtype = 'd') order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      join pg_attribute own on own.attrelid = root and own.attname = a.attname
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    )) order by member.oid <> root, member.oid) as members
  from member join pg_class c on c.oid = member.oid group by root`;

/** The members of a table, as it is now. */
export type Members = Layout['members'];

/** Reads the members of tables, by OID. */
export async function readMembers(
  db: Pick<Database, 'query'>,
  oids: readonly number[],
): Promise<ReadonlyMap<number, Members>> {
  const rows = await db.query<{ oid: number; members: Members }>({ text: membersSql, values: [oids] });
  return new Map(rows.map(({ oid, members }) => [oid, members]));
}

/** Begins a transaction in which nobody else records layouts, and no table gets other columns. */
export function holdLayouts(tables: readonly Pick<Shape, 'oid'>[]): Statement {
  return { text: 'select tidemark.hold_layouts($1)', values: [tables.map(({ oid }) => oid)] };
}

/** A layout to be recorded, as the table has it now. */
export interface NewLayout extends Shape {
  readonly members: Members;
  /** A snapshot from before the table had this shape; null if none is known. */
  readonly before: string | null;
}

/**
 * Records layouts, in a transaction of `holdLayouts`. Whatever this snapshot shows is below the ID of the transaction, so it
 * remains true after a crash. That of before does so if the database server has not been started since.
 * @param started when the database server was, as those had seen who took the snapshots of before
 */
export function recordLayouts(layouts: readonly NewLayout[], started: string): Statement {
  return {
    text: `insert into tidemark.layout (table_id, number, shape, members, before, after)
select id, coalesce(newest.number, 0) + 1, asked.shape, members, case when tidemark.started() = $5 then before end,
  pg_current_snapshot()
from unnest($1::integer[], $2::text[], $3::json[], $4::pg_snapshot[]) asked (id, shape, members, before)
left join lateral (
  select number, shape from tidemark.layout where table_id = id order by number desc limit 1
) newest on true
where newest.shape is distinct from asked.shape`,
    values: [
      layouts.map(({ id }) => id),
      layouts.map(({ shape }) => shape),
      layouts.map(({ members }) => JSON.stringify(members)),
      layouts.map(({ before }) => before),
      started,
    ],
  };
}
