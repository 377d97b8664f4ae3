/**
 * Partitions without rows. As long as the log has no later row of such a partition, it can be dropped, detached or
 * truncated without a reset of clients, because the log shows that every row that it ever had was removed.
 */
import type { ClientBase } from 'pg';
import { type Database, queryOf, readCommitted } from '../../db/database.js';
import { isLockTimeout } from '../../db/sqlstate.js';
import type { RelationFormat } from './row-format.js';
import { lockRowFormats, maxBytes, type RelationFormats, readRelationFormats } from './row-format-table.js';
import type { RemovedPartition } from './schema-change.js';

/** The newest row format of a partitioned table. Its replacement also records which partitions are empty. */
interface NewestRowFormat {
  readonly id: number;
  readonly oid: number;
  readonly number: number;
  readonly relations: RelationFormats;
}

/** The snapshots in a row format differ only if an older one was kept, because its partition had rows by then. */
const writtenTablesSql = `
  select s.id, s.relation::oid::int8::float8 as oid, l.number, l.relations
  from tidemark.synced_table s
  join pg_class c on c.oid = s.relation and c.relkind = 'p'
  cross join lateral (
    select number, relations from tidemark.row_format where table_id = s.id order by number desc limit 1
  ) l
  left join lateral (
    select (m ->> 'emptyAsOf')::pg_snapshot as snapshot from json_array_elements(l.relations) m
    where m ->> 'emptyAsOf' is not null and m ->> 'kind' = 'r'
    order by pg_snapshot_xmax((m ->> 'emptyAsOf')::pg_snapshot) desc limit 1
  ) recorded on true
  where has_table_privilege(s.relation, 'select')
    and has_table_privilege('tidemark.row_format', 'insert') and has_table_privilege('tidemark.row_format', 'delete')
    and (
      recorded.snapshot is null or pg_snapshot_xmin(recorded.snapshot) < (select horizon from tidemark.meta)
      or exists (
        select from tidemark.change where table_id = s.id and xid >= pg_snapshot_xmin(recorded.snapshot)
          and not pg_visible_in_snapshot(xid, recorded.snapshot)
      )
    )`;

/** How long a recording waits for a lock, in milliseconds. DDL and other recordings come first. */
const lockTimeoutMs = 1000;

/**
 * Records which partitions are empty now, for each partitioned table that was written to since the last recording.
 * Skips tables that are locked.
 */
export async function recordEmptyPartitions(db: Database): Promise<void> {
  for (const rowFormat of await db.query<NewestRowFormat>({ text: writtenTablesSql })) {
    await db
      .transact((client) => recordIn(client, rowFormat))
      .catch((error: unknown) => {
        if (!isLockTimeout(error)) throw error;
      });
  }
}

async function recordIn(client: ClientBase, { id, oid, number, relations }: NewestRowFormat): Promise<void> {
  const query = queryOf(client);
  await client.query(readCommitted);
  await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
  // From here on, no partition can be truncated, detached or dropped.
  await query(lockRowFormats([{ oid }]));
  const present = new Map(
    (await readRelationFormats({ query }, [oid])).get(oid)?.map((relation) => [relation.oid, relation]),
  );
  const empty = await findEmptyPartitions({ query }, oid);
  const updatedRelations = relations.map((relation): RelationFormat => {
    const { identity, emptyAsOf = null } = present.get(relation.oid) ?? {};
    return { ...relation, emptyAsOf: identity === relation.identity ? (empty.get(relation.oid) ?? emptyAsOf) : null };
  });
  if (updatedRelations.every(({ kind, emptyAsOf }) => kind === 'p' || emptyAsOf === null)) return;
  await query({
    text: `
      with replaced as (delete from tidemark.row_format where table_id = $1 and number = $2 returning schema_hash, before, after)
      insert into tidemark.row_format (table_id, number, schema_hash, relations, before, after)
      select $1, $2, schema_hash, $3, before, after from replaced`,
    values: [id, number, JSON.stringify(updatedRelations)],
  });
}

/** Finds the small partitions of a table that are empty, each with a snapshot that shows no rows. */
async function findEmptyPartitions(db: Pick<Database, 'query'>, table: number): Promise<ReadonlyMap<number, string>> {
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

/** Finds which of the removed partitions had no rows when they were removed, by OID. */
export async function findEmptiedPartitions(
  db: Pick<Database, 'query'>,
  table: number,
  removed: readonly RemovedPartition[],
): Promise<ReadonlySet<number>> {
  if (removed.length === 0) return new Set();
  const rows = await db.query<{ oid: number }>({
    text: `
      select removed.oid::int8::float8 as oid from unnest($2::oid[], $3::pg_snapshot[]) removed (oid, snapshot)
      where pg_snapshot_xmin(snapshot) >= (select horizon from tidemark.meta) and not exists (
        select from tidemark.change where table_id = $1 and xid >= pg_snapshot_xmin(snapshot)
          and not pg_visible_in_snapshot(xid, snapshot) and partition = removed.oid
      )`,
    values: [table, removed.map(({ oid }) => oid), removed.map(({ emptyAsOf }) => emptyAsOf)],
  });
  return new Set(rows.map(({ oid }) => oid));
}
