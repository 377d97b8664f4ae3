/** WITH queries for the changed keys of a table that was altered since the snapshot. */
import type { Table } from '../../catalog/tables.js';
import { literal } from '../../db/literal.js';
import { identifier } from '../../sql.js';
import type { FieldMapping, RelationHistory, SchemaChange } from './schema-change.js';

/** The name of a WITH query, by the table's ID in the change log. */
const loggedRows = (id: number): string => `tidemark_logged_${id}`;

/**
 * Yields what the states of a table need from its log: each changed key, `k1…`, with its row as of the snapshot, `old`,
 * as a literal of the table's type.
 *
 * Within one row format, old and new images cancel each other out, as in every table. In another row format, the same
 * row has another image. So the row as of the snapshot is the image that remains in the first row format with any.
 * Whether there was a row follows from the current rows, and from the number of rows added and removed. Of a row added
 * while the table was altered, only the hash is known. If the same image was removed in one of the possible row
 * formats, the row was added in that format.
 *
 * @param unseen the unseen log rows, as a call
 * @param changedKeys the name of the query that yields the keys
 */
export function schemaChangeQueries(
  table: Table & { readonly id: number },
  { transitions, relations, addedPartitions, attachedPartitions }: SchemaChange,
  unseen: string,
  changedKeys: string,
): string[] {
  const { id, primaryKey } = table;
  const logged = loggedRows(id);
  const relation = identifier(table.schema, table.name);
  const keys = primaryKey.map((_, i) => `k${i + 1}`).join(', ');
  const typedKeys = primaryKey.map(({ type }, i) => `key[${i + 1}]::${type} as k${i + 1}`).join(', ');
  const keyColumns = primaryKey.map(({ name }) => identifier(name)).join(', ');
  const sameKey = primaryKey.map(({ name }, i) => `t.${identifier(name)} = c.k${i + 1}`).join(' and ');
  const isPartitioned = table.kind === 'p';
  const before = relations.map(({ oid }) => oid).join();
  return [
    `${logged} as materialized (
      select l.key, l.partition, l.old, l.new_hash, m.first_equal[l.earliest + 1] as earliest, m.first_equal[l.latest + 1] as latest,
        tidemark.row_format_of(l.earliest, l.latest, l.old, m.first_equal, m.widths, m.steps) as row_format
      from (
        select *, ${earliestOf(transitions)} as earliest, ${latestOf(transitions)} as latest from ${unseen} u where key is not null
      ) l
      join (values ${relations.map(arraysOf).join(', ')}) m (oid, first_equal, widths, steps)
        on ${isPartitioned ? 'm.oid = l.partition' : 'true'}
    )`,
    `${changedKeys} as materialized (${withAdded(`
      select ${keys}, case when balance > 0 and net + (
        select count(*) from ${relation} t where ${sameKey}${addedPartitions.length > 0 ? ` and t.tableoid = any ('{${before}}')` : ''}
      ) = 1 then case when images = 1 then ${imageOf(relations, isPartitioned)} else tidemark.unclear_image() end end as old
      from (
        select distinct on (${keys}) *
        from (
          select ${keys}, row_format, partition, min(image) as image, sum(weight) as balance,
            sum(sum(weight)) over (partition by ${keys}) as net,
            sum((sum(weight) > 0)::integer) over (partition by ${keys}, row_format) as images
          from (
            select ${typedKeys}, partition, coalesce(row_format, image_format, earliest) as row_format, e.hash, e.image, e.weight
            from (
              select l.*, o.row_format as image_format from ${logged} l
              left join (
                select distinct key, hashtextextended(old, 0) as hash, row_format from ${logged} where old is not null
              ) o on l.row_format is null and o.key = l.key and o.hash = l.new_hash and o.row_format between l.earliest and l.latest
            ) l
            cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
            where e.hash is not null
          ) images
          group by ${keys}, hash, row_format, partition
          having sum(weight) <> 0
        ) ends
        order by ${keys}, balance > 0 desc, row_format
      ) c`)}
    )`,
  ];

  /** Adds the keys of rows in added partitions. At the snapshot, these keys had rows in other partitions, or none. */
  function withAdded(query: string): string {
    if (addedPartitions.length === 0) return query;
    const parts = table.parts.filter(({ oid }) => attachedPartitions.includes(oid));
    const rows = parts.map(({ schema, name }) => `select ${keyColumns}, null from only ${identifier(schema, name)}`);
    const logs = `select ${typedKeys}, null from ${unseen} u where key is not null and partition = any ('{${addedPartitions.join()}}')`;
    return `
      select ${keys}, max(old) as old from (${[query, logs, ...rows].join(' union all ')}) changed group by ${keys}`;
  }
}

/** The first possible row format of a log row. Transactions not visible in `after` wrote in its format or later. */
function earliestOf(transitions: SchemaChange['transitions']): string {
  const cases = transitions.map(({ after }, i) =>
    after === null ? '' : `when not pg_visible_in_snapshot(xid, ${literal(after)}::pg_snapshot) then ${i + 1}`,
  );
  return `case ${cases.reverse().join(' ')} else 0 end`;
}

/** The last possible row format of a log row. Transactions visible in `before` wrote in an earlier format. */
function latestOf(transitions: SchemaChange['transitions']): string {
  const cases = transitions.map(({ before }, i) =>
    before === null ? '' : `when pg_visible_in_snapshot(xid, ${literal(before)}::pg_snapshot) then ${i}`,
  );
  return `case when false then 0 ${cases.join(' ')} else ${transitions.length} end`;
}

function arraysOf({ oid, firstEqual, widths, steps }: RelationHistory): string {
  const arrays = [firstEqual, widths, steps].map(
    (list) => `array[${list.map((one) => one ?? 'null').join()}]::integer[]`,
  );
  return `(${oid}::oid, ${arrays.join(', ')})`;
}

/** The column "image", logged in one of a partition's row formats, as a literal of the table's type. */
function imageOf(relations: readonly RelationHistory[], isPartitioned: boolean): string {
  const cases = relations.flatMap(({ oid, fieldMappings }) =>
    [...fieldMappings].map(
      ([formatIndex, mapping]) =>
        `when row_format = ${formatIndex}${isPartitioned ? ` and partition = ${oid}` : ''} then ${mappedRow(mapping)}`,
    ),
  );
  return cases.length === 0 ? 'image' : `case ${cases.join(' ')} else image end`;
}

function mappedRow(mapping: FieldMapping): string {
  const fields = mapping.map((field) => (field === null ? 'null::text' : `f[${field}]`));
  return `(select row(${fields.join(', ')})::text from (select tidemark.fields(image) offset 0) fields (f))`;
}
