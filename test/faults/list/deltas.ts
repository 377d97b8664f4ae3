import type { Fault } from '../fault.js';

const sides = 'src/store/patches/sides.ts';
const states = 'src/store/patches/states.ts';
const patches = 'src/store/patches/delta.ts';
const schema = 'sql/0001-initial.sql';
const outlines = 'sql/0001-initial.sql';
const tests = ['test/pulls/deltas.test.ts'];
const keyed = ['test/pulls/keyed-deltas.test.ts'];
const divided = ['test/view/partition.test.ts'];
const flattening = 'src/view/partition/flatten.ts';
const outputs = 'src/view/partition/outputs.ts';
const torn = ['test/pulls/torn-reads.trial.ts'];

export const deltas: readonly Fault[] = [
  {
    name: 'partitions that new rows affect are missed',
    file: sides,
    find: "const entered = companionChanges(view, values, tables, states.plus, () => 'now');",
    replace: 'const entered: Change[] = [];',
    tests: keyed,
  },
  {
    name: 'partitions that rows have left are missed',
    file: sides,
    find: 'affectedPartitions(view, entered, left, read)',
    replace: 'affectedPartitions(view, entered, left.slice(0, 0), read)',
    tests: keyed,
  },
  {
    name: 'rows that are gone are joined with today’s rows',
    file: sides,
    find: 'companionChanges(view, values, tables, states.old, states.asof)',
    replace: "companionChanges(view, values, tables, states.old, () => 'now')",
    tests: keyed,
  },
  {
    name: 'a view is compared without need',
    file: sides,
    find: 'return companions ?',
    replace: 'return companions && changes.length === -1 ?',
    tests: ['test/oracle/keyed-counted.test.ts'],
  },
  {
    name: 'what rows depend on in a select list is missed',
    file: flattening,
    find: '...joins.flatMap((join) => [join, ...this.#dependencies(ofRows, join, block)]),',
    replace: '...joins,',
    tests: keyed,
  },
  {
    name: 'what a group without rows depends on is missed',
    file: flattening,
    find: '...this.#dependencies(ofGroup, emptyJoin, block),',
    replace: '...joins.flatMap((join) => this.#dependencies(ofGroup, join, block)),',
    tests: ['test/pulls/any-sql.test.ts'],
  },
  {
    name: 'what an outer join joins is missed',
    file: flattening,
    find: 'bounded([...all, ...dependencies])',
    replace: 'bounded([...all, ...dependencies.slice(0, 0)])',
    tests: keyed,
  },
  {
    name: 'the subqueries of a condition are missed',
    file: flattening,
    find: 'joins.flatMap((join) => [join, ...this.#dependencies(subqueriesIn(condition), join, block)])',
    replace: 'joins.flatMap((join) => [join])',
    tests: keyed,
  },
  {
    name: 'a null in NOT IN affects nothing',
    file: 'src/view/partition/membership.ts',
    find: '...(output.isNotNull ? []',
    replace: '...(output ? []',
    tests: keyed,
  },
  {
    name: 'a query is restricted by any of its columns',
    file: outputs,
    find: 'dividing.every((targets) => targets.some(isSame))',
    replace: 'true',
    tests: [...keyed, ...divided],
  },
  {
    name: 'a limited subquery is restricted before its limit',
    file: 'src/view/partition/resolve.ts',
    find: 'select !== unlimited && isLimited(select)',
    replace: 'select === unlimited && isLimited(select)',
    tests: divided,
  },
  {
    name: 'a condition on nulls is kept of an outer join',
    file: flattening,
    find: 'columns: base.columns,\n          nullable',
    replace: 'columns: new Map([...base.columns, ...added]),\n          nullable',
    tests: divided,
  },
  {
    name: 'conditions that can fail are kept',
    file: 'src/view/partition/conditions.ts',
    find: 'if (!cannotFail(condition)) return undefined;',
    replace: '',
    tests: divided,
  },
  {
    name: 'a row that stays for another reason is deleted',
    file: patches,
    find: ` and not \${sides.isThere}\``,
    replace: '`',
    tests,
  },
  {
    name: 'rows are put that are as they were',
    file: patches,
    find: '(b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)',
    replace: '(b.tidemark_other is null or b.tidemark_value is not null)',
    tests,
  },
  {
    name: 'rows that have changed are not put',
    file: patches,
    find: '(b.tidemark_other is null or b.tidemark_other <> b.tidemark_value)',
    replace: 'b.tidemark_other is null',
    tests,
  },
  {
    name: 'rows that have changed are deleted too',
    file: patches,
    find: 'not b.tidemark_after and b.tidemark_other is null',
    replace: 'not b.tidemark_after',
    tests,
  },
  {
    name: 'of a row that joined two that are gone, nobody knows',
    file: sides,
    find: 'focusedRows(view, values, tables, states.minus, states.asof)',
    replace: 'focusedRows(view, values, tables, states.minus)',
    tests,
  },
  {
    name: 'a view that is not incremental is compared with itself',
    file: sides,
    find: 'before: whole(asof)',
    replace: 'before: whole(now)',
    tests,
  },
  {
    name: 'keys that Postgres calls equal are equal for the client',
    file: sides,
    find: ` and \${view.keySql(values)} = b.tidemark_key and `,
    replace: ' and ',
    tests: ['test/pulls/no-silent-gap.test.ts'],
  },
  {
    name: 'a key that is as it was has changed',
    file: states,
    find: 'having sum(weight) <> 0',
    replace: '',
    tests: ['test/conformance/pull-wire.test.ts'],
  },
  {
    name: 'the last image of a key passes for the first',
    file: states,
    find: 'balance desc',
    replace: 'balance',
    tests,
  },
  {
    name: 'images that have come about count as they were left',
    file: states,
    find: `case when balance > 0 then \${old} end as old`,
    replace: `\${old} as old`,
    tests,
  },
  {
    name: 'a table as it was lacks the rows that have changed',
    file: states,
    find: 'where u.tidemark_minus or not exists',
    replace: 'where not exists',
    tests,
  },
  {
    name: 'a table as it was has the rows of today too',
    file: states,
    find: 'where u.tidemark_minus or not exists',
    replace: 'where true or not exists',
    tests,
  },
  {
    name: 'changes of all tables are changes of each',
    file: schema,
    find: 'where table_id = of_table and xid between',
    replace: 'where of_table is not null and xid between',
    tests,
  },
  {
    name: 'what was done to a table while a statement waited for it is not seen',
    file: outlines,
    find: 'tidemark.outline(relation oid) returns bigint\nlanguage plpgsql volatile',
    replace: 'tidemark.outline(relation oid) returns bigint\nlanguage plpgsql stable',
    tests: torn,
  },
  {
    name: 'another file of a table is not noticed',
    file: outlines,
    find: 'row_security_active(relation), pg_relation_filenode(relation),',
    replace: 'row_security_active(relation),',
    tests: torn,
  },
  {
    name: 'another file of a partition is not noticed',
    file: outlines,
    find: "concat_ws(':', relid::oid, pg_relation_filenode(relid))",
    replace: 'relid::oid::text',
    tests: torn,
  },
  {
    name: 'another partition is not noticed',
    file: outlines,
    find: "(select string_agg(concat_ws(':', relid::oid, pg_relation_filenode(relid)), ',' order by relid) from pg_partition_tree(relation)),",
    replace: '',
    tests: torn,
  },
  {
    name: 'columns made anew are not noticed',
    file: outlines,
    find: 'array(select xmin from pg_attribute where attrelid = relation and attnum > 0 order by attnum)',
    replace: 'null',
    tests: torn,
  },
  {
    name: 'a row without a key is lost',
    file: schema,
    find: `raise exception 'a row of the view "%" has no key', view_name using errcode = 'null_value_not_allowed';`,
    replace: 'return view_name;',
    tests,
  },
  {
    name: 'a column that is computed when it is read is empty in a row as it was',
    file: states,
    find: 'return virtual ? ',
    replace: "return virtual && virtual.name === '' ? ",
    tests: ['test/installation/capture-types.test.ts'],
  },
];
