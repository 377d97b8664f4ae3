/**
 * Partitions without rows. As long as the log has no row of such a partition since, it can be dropped, detached or
 * truncated, and clients need no reset: every row that it ever had is gone from it in the log.
 */
import type { ClientBase } from 'pg';
import { type Database, queryOf, readCommitted } from '../../db/database.js';
import { isLockTimeout } from '../../db/sqlstate.js';
import type { GonePartition } from './alteration.js';
import type { LayoutMember } from './layout.js';
import { holdLayouts, type Members, maxBytes, readMembers } from './layouts-table.js';

/** The newest layout of a partitioned table, which is replaced by one that says which partitions have no rows. */
interface NewestLayout {
  readonly id: number;
  readonly oid: number;
  readonly number: number;
  readonly members: Members;
}

/** Recorded snapshots of one layout differ only where an older one was not replaced: its partition had rows by then. */
const writtenSql = `
  select s.id, s.relation::oid::int8::float8 as oid, l.number, l.members
  from tidemark.synced_table s
  join pg_class c on c.oid = s.relation and c.relkind = 'p'
  cross join lateral (
    select number, members from tidemark.layout where table_id = s.id order by number desc limit 1
  ) l
  left join lateral (
    select (m ->> 'emptyAsOf')::pg_snapshot as snapshot from json_array_elements(l.members) m
    where m ->> 'emptyAsOf' is not null and m ->> 'kind' = 'r'
    order by pg_snapshot_xmax((m ->> 'emptyAsOf')::pg_snapshot) desc limit 1
  ) recorded on true
  where has_table_privilege(s.relation, 'select')
    and has_table_privilege('tidemark.layout', 'insert') and has_table_privilege('tidemark.layout', 'delete')
    and (
      recorded.snapshot is null or pg_snapshot_xmin(recorded.snapshot) < (select horizon from tidemark.meta)
      or exists (
        select from tidemark.change where table_id = s.id and xid >= pg_snapshot_xmin(recorded.snapshot)
          and not pg_visible_in_snapshot(xid, recorded.snapshot)
      )
    )`;

/** How long a recording waits for a lock, in milliseconds: DDL and other recordings come first. */
const lockTimeoutMs = 1000;

/**
 * Records which partitions have no rows now, for each partitioned table that was written to since the last recording.
 * Leaves out tables that are locked.
 */
export async function recordEmptied(db: Database): Promise<void> {
  for (const layout of await db.query<NewestLayout>({ text: writtenSql })) {
    await db
      .transact((client) => recordIn(client, layout))
      .catch((error: unknown) => {
        if (!isLockTimeout(error)) throw error;
      });
  }
}

async function recordIn(client: ClientBase, { id, oid, number, members }: NewestLayout): Promise<void> {
  const query = queryOf(client);
  await client.query(readCommitted);
  await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
  // From here on, no partition can be truncated, detached or dropped.
  await query(holdLayouts([{ oid }]));
  const present = new Map((await readMembers({ query }, [oid])).get(oid)?.map((member) => [member.oid, member]));
  const empty = await findEmpty({ query }, oid);
  const recorded = members.map((member): LayoutMember => {
    const { identity, emptyAsOf = null } = present.get(member.oid) ?? {};
    return { ...member, emptyAsOf: identity === member.identity ? (empty.get(member.oid) ?? emptyAsOf) : null };
  });
  if (recorded.every(({ kind, emptyAsOf }) => kind === 'p' || emptyAsOf === null)) return;
  await query({
    text: `
      with replaced as (delete from tidemark.layout where table_id = $1 and number = $2 returning shape, before, after)
      insert into tidemark.layout (table_id, number, shape, members, before, after)
      select $1, $2, shape, $3, before, after from replaced`,
    values: [id, number, JSON.stringify(recorded)],
  });
}

/** Finds the small partitions of a table that have no rows, with a snapshot that shows none. */
async function findEmpty(db: Pick<Database, 'query'>, table: number): Promise<ReadonlyMap<number, string>> {
  const small = await db.query<{ oid: number; name: string }>({
    text: `
      select relid::oid::int8::float8 as oid, relid::text as name from pg_partition_tree($1::oid) where isleaf
        and has_table_privilege(relid, 'select') and not row_security_active(relid)
        and pg_relation_size(relid) between 1 and $2`,
    values: [table, maxBytes],
  });
  if (small.length === 0) return new Map();
  const checks = small.map(({ oid, name }) => `select ${oid} where not exists (select from only ${name})`);
  const empty = await db.query<{ oid: number; snapshot: string }>({
    text: `select oid, pg_current_snapshot()::text as snapshot from (${checks.join(' union all ')}) empty (oid)`,
  });
  return new Map(empty.map(({ oid, snapshot }) => [oid, snapshot]));
}

/** Finds which of the partitions that have gone had no rows when they went, by OID. */
export async function findEmptied(
  db: Pick<Database, 'query'>,
  table: number,
  gone: readonly GonePartition[],
): Promise<ReadonlySet<number>> {
  if (gone.length === 0) return new Set();
  const rows = await db.query<{ oid: number }>({
    text: `
      select gone.oid::int8::float8 as oid from unnest($2::oid[], $3::pg_snapshot[]) gone (oid, snapshot)
      where pg_snapshot_xmin(snapshot) >= (select horizon from tidemark.meta) and not exists (
        select from tidemark.change where table_id = $1 and xid >= pg_snapshot_xmin(snapshot)
          and not pg_visible_in_snapshot(xid, snapshot) and partition = gone.oid
      )`,
    values: [table, gone.map(({ oid }) => oid), gone.map(({ emptyAsOf }) => emptyAsOf)],
  });
  return new Set(rows.map(({ oid }) => oid));
}
