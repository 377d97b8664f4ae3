/** Looks up the types of a query's expressions in the catalogs. */
import type { Database } from '../db/database.js';

/** A part of a type: the type itself, an array's element, a range's bounds, a domain's base, or a row's columns. */
export interface TypePart {
  readonly oid: number;
  readonly name: string;
  readonly builtin: boolean;
  /** `b` base, `c` composite, `d` domain, `e` enum, `p` pseudo-type, `r` range, `m` multirange. */
  readonly kind: string;
  readonly isArray: boolean;
  /** True if its text consists of names in the catalogs, which a rename changes without a write, as for `regclass`. */
  readonly isOfNames: boolean;
  /** True if the type consists of no other types. */
  readonly isLeaf: boolean;
  /** The volatilities of the type's input and output functions. */
  readonly volatilities: readonly string[];
  /** True for a row's column with a nondeterministic collation, under which different strings can be equal. */
  readonly alike: boolean;
  /** The check constraints of a domain, as analyzed by Postgres. */
  readonly checks: readonly string[];
}

const typesSql = `
  with recursive part (root, oid, collid) as (
    select t, t, 0::oid from unnest($1::oid[]) t
    union
    select part.root, inner_part.oid, inner_part.collid
    from part
    join pg_type t on t.oid = part.oid
    left join pg_range r on r.rngtypid = t.oid or r.rngmultitypid = t.oid
    cross join lateral (
      select u, 0::oid from unnest(array[
        case when t.typcategory = 'A' then t.typelem end, t.typbasetype, r.rngsubtype
      ]) u
      union all
      select atttypid, attcollation from pg_attribute where attrelid = t.typrelid and attnum > 0 and not attisdropped
    ) inner_part (oid, collid)
    where inner_part.oid <> 0
  )
  select root::int4, json_agg(json_build_object(
    'oid', t.oid::int8,
    'name', t.typname,
    'builtin', t.typnamespace = 'pg_catalog'::regnamespace,
    'kind', t.typtype,
    'isArray', t.typcategory = 'A',
    'isOfNames', t.typnamespace = 'pg_catalog'::regnamespace and t.typcategory <> 'A'
      and (starts_with(t.typname::text, 'reg') or t.typname = 'aclitem'),
    'isLeaf', t.typtype in ('b', 'e', 'p') and t.typcategory <> 'A',
    'volatilities', array(
      select distinct provolatile from pg_proc where pg_proc.oid in (t.typinput, t.typoutput)
    ),
    'alike', coalesce(not c.collisdeterministic, false),
    'checks', array(select conbin::text from pg_constraint where contypid = t.oid and conbin is not null)
  )) as parts
  from part join pg_type t on t.oid = part.oid left join pg_collation c on c.oid = part.collid
  group by root`;

/** Finds the parts of each type, which include the type itself. The keys are the types' OIDs. */
export async function findTypes(db: Database, oids: readonly number[]): Promise<Map<number, readonly TypePart[]>> {
  const rows = await db.query<{ root: number; parts: TypePart[] }>({ text: typesSql, values: [oids] });
  return new Map(rows.map(({ root, parts }) => [root, parts]));
}

/** Finds the columns of a table whose text contains names in the catalogs, each with the type that causes this. */
export async function findNameColumns(db: Database, table: number): Promise<{ column: string; type: string }[]> {
  const text = `
    select attname::text as column, atttypid::int8::float8 as oid from pg_attribute
    where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`;
  const columns = await db.query<{ column: string; oid: number }>({ text, values: [table] });
  const types = await findTypes(db, [...new Set(columns.map(({ oid }) => oid))]);
  return columns.flatMap(({ column, oid }) => {
    const part = types.get(oid)!.find(({ isOfNames }) => isOfNames);
    return part ? [{ column, type: part.name }] : [];
  });
}

/** Returns the OIDs of the nondeterministic collations, under which different strings can be equal. */
export async function findAlikeCollations(db: Database, oids: readonly number[]): Promise<Set<number>> {
  const text = 'select oid::int4 from pg_collation where oid = any ($1::oid[]) and not collisdeterministic';
  return new Set((await db.query<{ oid: number }>({ text, values: [oids] })).map(({ oid }) => oid));
}

/**
 * Finds the types whose JSON can be something other than a string or a number: arrays, rows, JSON, and types that a
 * cast writes as JSON. Returns their names in SQL, by OID.
 */
export async function findNestedTypes(db: Database, oids: readonly number[]): Promise<Map<number, string>> {
  const text = `
    select t.oid::int8::float8 as oid, format_type(t.oid, null) as name from pg_type t
    where t.oid = any ($1::oid[]) and (
      t.oid in ('json'::regtype, 'jsonb'::regtype) or t.typtype in ('c', 'p')
      or t.typelem <> 0 and t.typsubscript = 'array_subscript_handler'::regproc
      or exists (
        select from pg_cast c
        where c.castsource = t.oid and c.casttarget = 'json'::regtype and c.castmethod = 'f' and t.oid >= 16384
      )
    )`;
  const rows = await db.query<{ oid: number; name: string }>({ text, values: [oids] });
  return new Map(rows.map(({ oid, name }) => [oid, name]));
}
