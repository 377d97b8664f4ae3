/** Looks up the functions that a query runs. */
import type { Database } from '../db/database.js';

/** A function, aggregate or window function. */
export interface Routine {
  readonly oid: number;
  readonly name: string;
  /** The name with the argument types: `age(timestamp with time zone)`. */
  readonly signature: string;
  /** The operator that runs it; null if the query calls it by name. */
  readonly operator: string | null;
  readonly builtin: boolean;
  /** `f` function, `a` aggregate, `w` window function. */
  readonly kind: string;
  /** Its own, and those of an aggregate's component functions: `i` immutable, `s` stable, `v` volatile. */
  readonly volatilities: readonly string[];
  readonly argumentCount: number;
  /** The default expressions of its arguments, as analyzed by Postgres; null if it has none. */
  readonly defaults: string | null;
}

const routinesSql = `
  with used (oid, operator) as (
    select f, null from unnest($1::oid[]) f
    union
    select oprcode::oid, oprname from pg_operator where oid = any ($2::oid[])
    union
    select oprcode::oid, oprname from pg_operator where oprcode::oid = any ($3::oid[])
  )
  select p.oid::int4, p.proname::text as name, p.oid::regprocedure::text as signature, min(u.operator) as operator,
    p.pronamespace = 'pg_catalog'::regnamespace as builtin, p.prokind::text as kind,
    p.pronargs::int4 as "argumentCount", p.proargdefaults::text as defaults,
    array(
      select distinct part.provolatile::text
      from pg_proc part left join pg_aggregate a on a.aggfnoid = p.oid
      where part.oid = p.oid or part.oid in (
        a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn
      )
    ) as volatilities
  from used u join pg_proc p on p.oid = u.oid
  group by p.oid`;

/** The functions and operators that a query runs, by OID. */
export interface RoutineUse {
  readonly functions: ReadonlySet<number>;
  /** Operators whose function Postgres looks up at run time. */
  readonly operators: ReadonlySet<number>;
  /** The functions of operators. */
  readonly operatorFunctions: ReadonlySet<number>;
}

/** Looks up the routines that a query runs. */
export async function findRoutines(db: Database, use: RoutineUse): Promise<Routine[]> {
  const values = [[...use.functions], [...use.operators], [...use.operatorFunctions]];
  return db.query<Routine>({ text: routinesSql, values });
}
