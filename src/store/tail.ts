/** What has been committed since a snapshot, in one cheap query. */
import type { Database } from '../db/database.js';
import { readSnapshot, type Snapshot, type SnapshotFields, unseenRanges } from '../protocol/snapshot.js';
import { mutationsID } from './client-groups.js';

/** What has been committed to one table. */
export interface TailChange {
  /** The table's ID in the change log. */
  readonly table: number;
  /** The number of its log rows, at most `countedChanges`. */
  readonly rows: number;
  /** The one transaction that wrote them; null if there are several, or if `countedChanges` is reached. */
  readonly xid: string | null;
  readonly truncated: boolean;
}

/** What has been committed since a snapshot, and the snapshot in which it was read. */
export interface TailBatch {
  readonly snapshot: Snapshot;
  readonly installID: string;
  /** The change log no longer has the transactions below this ID. */
  readonly horizon: string;
  readonly changes: readonly TailChange[];
  /** How many mutations were applied, at most `countedMutations`. */
  readonly mutations: number;
  /** The client groups that the mutations are of, each with its user. */
  readonly groups: readonly (readonly [clientGroupID: string, userID: string])[];
}

/** At most this many log rows are counted for a table. */
export const countedChanges = 10_000;

/** At most this many mutations are looked at; if there are as many, all listeners are poked. */
export const countedMutations = 1_000;

/** Ranges of transactions are read from the index, in its order, as in the header's query. */
const tailSql = `
with unseen (low, high) as materialized (
  select * from unnest((select $1::xid8[]), (select $2::xid8[]))
), mutation (client_group_id) as materialized (
  select key[1] from unseen
  cross join lateral (
    select key from tidemark.change where table_id = ${mutationsID} and xid between low and high
    order by xid limit ${countedMutations}
  ) changes
  limit ${countedMutations}
)
select json_build_object(
  'snapshot', s::text,
  'standby', case when pg_is_in_recovery() then tidemark.seen_by_standby($3::integer[]) end,
  'installID', m.install_id,
  'horizon', m.horizon::text,
  'changes', (
    select coalesce(json_agg(json_build_object(
      'table', t.id, 'rows', c.rows, 'truncated', c.truncated,
      'xid', case when c.first = c.last and c.rows < ${countedChanges} then c.first end
    )), '[]')
    from unnest((select $3::integer[])) t (id)
    cross join lateral (
      select count(*) as rows, min(xid::text) as first, max(xid::text) as last, exists (
        select from unseen join tidemark.change on key is null and table_id = t.id and xid between low and high
      ) as truncated
      from (
        select xid from unseen
        cross join lateral (
          select xid from tidemark.change where table_id = t.id and xid between low and high
          order by xid limit ${countedChanges}
        ) changes
        limit ${countedChanges}
      ) counted
    ) c
    where c.rows > 0
  ),
  'mutations', (select count(*) from mutation),
  'groups', (
    select coalesce(json_agg(distinct jsonb_build_array(g.id, g.user_id)), '[]')
    from mutation join tidemark.client_group g on g.id = mutation.client_group_id
  )
)::text as line
from tidemark.meta m, pg_current_snapshot() s`;

/**
 * Reads what the snapshot has not seen; without a snapshot, only the current state of the database.
 * @param tables the change-log IDs of the tables that matter
 * @throws Problem if a standby has seen more than can be listed.
 */
export async function readTail(
  db: Pick<Database, 'query'>,
  base: Snapshot | undefined,
  tables: readonly number[],
): Promise<TailBatch> {
  const ranges = base && unseenRanges(base);
  const values = [ranges?.lows ?? null, ranges?.highs ?? null, `{${tables.join()}}`];
  const [row] = await db.query<{ line: string }>({ name: 'tidemark_tail', text: tailSql, values });
  const { snapshot, standby, ...batch } = JSON.parse(row!.line) as Omit<TailBatch, 'snapshot'> & SnapshotFields;
  return { ...batch, snapshot: readSnapshot({ snapshot, standby }) };
}
