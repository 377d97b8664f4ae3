/** Looks up a query's comparison operators in the catalogs. */
import type { Database } from '../db/database.js';

const ordersSql = `
  with member (operator, family, left_type, right_type, strategy) as (
    select amopopr, amopfamily, amoplefttype, amoprighttype, amopstrategy
    from pg_amop
    where amopmethod = (select oid from pg_am where amname = 'btree') and amoppurpose = 's'
  )
  select o.oid::int4, array_agg(less.operator::int4) as orders
  from pg_operator o
  join member m on m.operator in (o.oid, o.oprnegate)
  join member less using (family, left_type, right_type)
  where o.oid = any ($1::oid[]) and less.strategy = 1
  group by o.oid`;

/**
 * Finds the sort orders that each operator, or its negator, belongs to. Maps the operator's OID to the OIDs of the
 * orders' `<`. Omits operators that belong to no order.
 */
export async function findOrders(db: Database, oids: readonly number[]): Promise<Map<number, readonly number[]>> {
  const rows = await db.query<{ oid: number; orders: number[] }>({ text: ordersSql, values: [oids] });
  return new Map(rows.map(({ oid, orders }) => [oid, orders]));
}
