/** The changed keys of a table that was altered since the snapshot, as WITH queries. */
import type { Table } from '../../catalog/tables.js';
import { literal } from '../../db/literal.js';
import { identifier } from '../../sql.js';
import type { Alteration, Form, MemberHistory } from './alteration.js';

/** The name of a WITH query, by the table's ID in the change log. */
const loggedRows = (id: number): string => `tidemark_logged_${id}`;

/**
 * Yields what the states of a table need of its log: each changed key, `k1…`, with its row as of the snapshot as a literal
 * of the table's type, `old`.
 *
 * Within a layout, old and new images cancel each other, as in every table. In another layout, the same row is another
 * image. So the row as of the snapshot is the image that remains in the first layout of all that have one. Whether there
 * was a row is told by those that there are now, and by how many came and went. Of a row that came while the table was
 * altered, only the hash is known: if the same image went in one of the layouts that come into question, it came in it.
 *
 * @param unseen the unseen log rows, as a call
 * @param changed the name of the query that yields the keys
 */
export function alteredQueries(
  table: Table & { readonly id: number },
  { transitions, members, added, attached }: Alteration,
  unseen: string,
  changed: string,
): string[] {
  const { id, primaryKey } = table;
  const logged = loggedRows(id);
  const relation = identifier(table.schema, table.name);
  const keys = primaryKey.map((_, i) => `k${i + 1}`).join(', ');
  const typedKeys = primaryKey.map(({ type }, i) => `key[${i + 1}]::${type} as k${i + 1}`).join(', ');
  const ownKeys = primaryKey.map(({ name }) => identifier(name)).join(', ');
  const sameKey = primaryKey.map(({ name }, i) => `t.${identifier(name)} = c.k${i + 1}`).join(' and ');
  const isPartitioned = table.kind === 'p';
  const before = members.map(({ oid }) => oid).join();
  return [
    `${logged} as materialized (
      select l.key, l.partition, l.old, l.new_hash, m.same[l.earliest + 1] as earliest, m.same[l.latest + 1] as latest,
        tidemark.written_in(l.earliest, l.latest, l.old, m.same, m.widths, m.steps) as layout
      from (
        select *, ${earliestOf(transitions)} as earliest, ${latestOf(transitions)} as latest from ${unseen} u where key is not null
      ) l
      join (values ${members.map(arraysOf).join(', ')}) m (oid, same, widths, steps)
        on ${isPartitioned ? 'm.oid = l.partition' : 'true'}
    )`,
    `${changed} as materialized (${withAdded(`
      select ${keys}, case when balance > 0 and net + (
        select count(*) from ${relation} t where ${sameKey}${added.length > 0 ? ` and t.tableoid = any ('{${before}}')` : ''}
      ) = 1 then case when images = 1 then ${imageOf(members, isPartitioned)} else tidemark.unclear_image() end end as old
      from (
        select distinct on (${keys}) *
        from (
          select ${keys}, layout, partition, min(image) as image, sum(weight) as balance,
            sum(sum(weight)) over (partition by ${keys}) as net,
            sum((sum(weight) > 0)::integer) over (partition by ${keys}, layout) as images
          from (
            select ${typedKeys}, partition, coalesce(layout, found, earliest) as layout, e.hash, e.image, e.weight
            from (
              select l.*, o.layout as found from ${logged} l
              left join (
                select distinct key, hashtextextended(old, 0) as hash, layout from ${logged} where old is not null
              ) o on l.layout is null and o.key = l.key and o.hash = l.new_hash and o.layout between l.earliest and l.latest
            ) l
            cross join lateral (values (hashtextextended(old, 0), old, 1), (new_hash, null, -1)) e (hash, image, weight)
            where e.hash is not null
          ) images
          group by ${keys}, hash, layout, partition
          having sum(weight) <> 0
        ) ends
        order by ${keys}, balance > 0 desc, layout
      ) c`)}
    )`,
  ];

  /** Of keys whose rows are in partitions that were added, these had none. They may have had one in another. */
  function withAdded(query: string): string {
    if (added.length === 0) return query;
    const parts = table.parts.filter(({ oid }) => attached.includes(oid));
    const rows = parts.map(({ schema, name }) => `select ${ownKeys}, null from only ${identifier(schema, name)}`);
    const logs = `select ${typedKeys}, null from ${unseen} u where key is not null and partition = any ('{${added.join()}}')`;
    return `
      select ${keys}, max(old) as old from (${[query, logs, ...rows].join(' union all ')}) changed group by ${keys}`;
  }
}

/** The first layout in which a log row may have been written: those who had not ended by then found it, or a later one. */
function earliestOf(transitions: Alteration['transitions']): string {
  const cases = transitions.map(({ after }, i) =>
    after === null ? '' : `when not pg_visible_in_snapshot(xid, ${literal(after)}::pg_snapshot) then ${i + 1}`,
  );
  return `case ${cases.reverse().join(' ')} else 0 end`;
}

/** The last one: those who had ended by then did not find it. */
function latestOf(transitions: Alteration['transitions']): string {
  const cases = transitions.map(({ before }, i) =>
    before === null ? '' : `when pg_visible_in_snapshot(xid, ${literal(before)}::pg_snapshot) then ${i}`,
  );
  return `case when false then 0 ${cases.join(' ')} else ${transitions.length} end`;
}

function arraysOf({ oid, same, widths, steps }: MemberHistory): string {
  const arrays = [same, widths, steps].map((list) => `array[${list.map((one) => one ?? 'null').join()}]::integer[]`);
  return `(${oid}::oid, ${arrays.join(', ')})`;
}

/** The column "image", which was logged in a layout of a partition, as a literal of the table's type. */
function imageOf(members: readonly MemberHistory[], isPartitioned: boolean): string {
  const cases = members.flatMap(({ oid, forms }) =>
    [...forms].map(
      ([layout, form]) =>
        `when layout = ${layout}${isPartitioned ? ` and partition = ${oid}` : ''} then ${inForm(form)}`,
    ),
  );
  return cases.length === 0 ? 'image' : `case ${cases.join(' ')} else image end`;
}

function inForm(form: Form): string {
  const fields = form.map((field) => (field === null ? 'null::text' : `f[${field}]`));
  return `(select row(${fields.join(', ')})::text from (select tidemark.fields(image) offset 0) fields (f))`;
}
