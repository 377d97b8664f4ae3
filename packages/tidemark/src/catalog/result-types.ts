/** Looks up what determines the JSON of a result's columns. */
import type { Database, ResultColumn } from '../db/database.js';

/** The properties of a type that determine its JSON. */
export interface ResultType {
  readonly name: string;
  /** True if the type comes with Postgres. */
  readonly builtin: boolean;
  /** `b` base, `c` composite, `d` domain, `e` enum, `r` range, `m` multirange. */
  readonly kind: string;
  /** The values of an enum, in order. */
  readonly labels: readonly string[];
  /** True if a cast determines its JSON. */
  readonly hasCast: boolean;
  /** The element type of an array, or the base type of a domain. */
  readonly inner?: ResultType | undefined;
}

/** A column of a result. */
export interface DescribedColumn {
  readonly name: string;
  readonly type: ResultType;
  /** True if it shows a table column that is NOT NULL for all rows. */
  readonly isNotNull: boolean;
}

interface TypeRow extends Omit<ResultType, 'inner'> {
  readonly oid: number;
  readonly inner: number;
}

const typesSql = `
  with recursive part (oid) as (
    select unnest($1::oid[])
    union
    select case when t.typtype = 'd' then t.typbasetype when t.typlen = -1 then t.typelem else 0 end
    from part join pg_type t using (oid)
  )
  select t.oid::int8::float8 as oid, t.typname as name, t.typnamespace = 'pg_catalog'::regnamespace as builtin,
    t.typtype as kind,
    array(select enumlabel::text from pg_enum e where e.enumtypid = t.oid order by enumsortorder) as labels,
    exists (
      select from pg_cast c
      where c.castsource = t.oid and c.casttarget = 'json'::regtype and c.castmethod = 'f' and t.oid >= 16384
    ) as "hasCast",
    (case when t.typtype = 'd' then t.typbasetype when t.typlen = -1 then t.typelem else 0 end)::int8::float8 as inner
  from part join pg_type t using (oid)`;

/** A NOT VALID constraint, which Postgres 18 introduced, tolerates older nulls. */
const notNullSql = `
  select (attrelid::int8 || ' ' || attnum) as column from pg_attribute a
  where attnotnull and (attrelid, attnum) in (select * from unnest($1::oid[], $2::int2[]))
    and not exists (
      select from pg_constraint c
      where c.conrelid = a.attrelid and c.contype = 'n' and c.conkey = array[a.attnum] and not c.convalidated
    )`;

/** Describes the columns of a result. */
export async function describeResult(db: Database, columns: readonly ResultColumn[]): Promise<DescribedColumn[]> {
  const oids = [...new Set(columns.map(({ typeOID }) => typeOID))];
  const origins = columns.flatMap(({ origin }) => origin ?? []);
  const tables = [origins.map(({ table }) => table), origins.map(({ column }) => column)];
  const [types, notNull] = await Promise.all([
    db.query<TypeRow>({ text: typesSql, values: [oids] }),
    db.query<{ column: string }>({ text: notNullSql, values: tables }),
  ]);
  const byOID = new Map(types.map((type) => [type.oid, type]));
  const typeOf = (oid: number): ResultType => {
    const { name, builtin, kind, labels, hasCast, inner } = byOID.get(oid)!;
    return { name, builtin, kind, labels, hasCast, inner: inner === 0 ? undefined : typeOf(inner) };
  };
  const declared = new Set(notNull.map(({ column }) => column));
  return columns.map(({ name, typeOID, origin }) => ({
    name,
    type: typeOf(typeOID),
    isNotNull: origin !== undefined && declared.has(`${origin.table} ${origin.column}`),
  }));
}
