/**
 * Tells which values can differ even if Postgres considers them equal, as 1.0 and 1.00, or letters in a
 * case-insensitive collation. A query that keeps one of several equal values may keep any of them.
 */
import type { Table } from '../../catalog/tables.js';
import type { TypePart } from '../../catalog/types.js';
import { collationOf, modifierOf, typeOf } from './expressions.js';
import type { Facts } from './facts.js';
import { isNode, nodeList, numberOf, type QueryNode } from './query-tree.js';

/** Types whose equal values are written the same way. */
const exactTypes = new Set(
  `bool bytea char cid cidr date inet int2 int4 int8 macaddr macaddr8 money name oid pg_lsn text tid time timestamp
  timestamptz timetz tsvector uuid varbit varchar bit xid xid8`.split(/\s+/),
);

/** Types that are exact if a length or precision is declared: values are then padded or rounded to it. */
const exactWithModifier = new Set(['numeric', 'bpchar']);

/** What to write instead of values that can be equal but written differently. */
export const oneForm =
  'cast numeric values, as in numeric(12, 2); use lower(…) collate "C" for case-insensitive text; cast anything else to text';

/** Whether equal values of an expression are always written the same way. */
export function isExact(expression: QueryNode, { partsOf, isAlike }: Facts): boolean {
  const parts = partsOf(typeOf(expression));
  if (parts.length === 0 || isAlike(collationOf(expression))) return false;
  const hasModifier = modifierOf(expression) >= 0;
  return parts.filter(({ isLeaf }) => isLeaf).every((part) => isExactPart(part, hasModifier));
}

function isExactPart({ builtin, name, kind, alike }: TypePart, hasModifier: boolean): boolean {
  const isExactType = exactTypes.has(name) || (hasModifier && exactWithModifier.has(name));
  return !alike && (kind === 'e' || (builtin && isExactType));
}

/** A column of something that a query reads. */
interface ReadColumn {
  /** The entry of the query's range table that stands for what is read. */
  readonly entry: QueryNode;
  /** The number of the entry, from 1. */
  readonly entryNumber: number;
  readonly column: number;
}

/** A column of a table. */
interface Origin extends ReadColumn {
  readonly relation: number;
}

/** What an expression of a query is, looked up through joins and, since Postgres 18, through the list of grouping expressions. */
export function resolvedIn(query: QueryNode, expression: QueryNode): QueryNode {
  const node = isNode(expression.fields.expr) && expression.tag === 'TARGETENTRY' ? expression.fields.expr : expression;
  if (numberOf(node, 'varlevelsup') !== 0) return node;
  const entry = nodeList(query, 'rtable')[numberOf(node, 'varno')! - 1]!;
  const expressions = [...nodeList(entry, 'joinaliasvars'), ...nodeList(entry, 'groupexprs')];
  const inner = expressions[numberOf(node, 'varattno')! - 1];
  return inner ? resolvedIn(query, inner) : node;
}

/** The column that an expression of a query is, if it is a column of something that the query reads. */
export function columnReadBy(expression: QueryNode, query: QueryNode): ReadColumn | undefined {
  const node = resolvedIn(query, expression);
  if (numberOf(node, 'varlevelsup') !== 0) return undefined;
  const entryNumber = numberOf(node, 'varno')!;
  return { entry: nodeList(query, 'rtable')[entryNumber - 1]!, entryNumber, column: numberOf(node, 'varattno')! };
}

/** The column of a table that an expression of a query is, if it is one. */
export function originOf(expression: QueryNode, query: QueryNode): Origin | undefined {
  const found = columnReadBy(expression, query);
  const relation = found && numberOf(found.entry, 'relid');
  return relation ? { ...found, relation } : undefined;
}

/** The columns of a table's primary key, by the table's OID. */
export type KeyOf = (relation: number) => readonly number[] | undefined;

/** The primary keys of tables. */
export function primaryKeysOf(tables: readonly Table[]): KeyOf {
  const keys = new Map(tables.map(({ oid, primaryKey }) => [oid, primaryKey.map(({ attnum }) => attnum)]));
  return (relation) => keys.get(relation);
}

/**
 * Tells of each expression whether it is a column of a table whose whole primary key is among the expressions: equal
 * values are then from one row of the table, and so identical.
 */
export function keyed(expressions: readonly QueryNode[], query: QueryNode, keyOf: KeyOf): boolean[] {
  const origins = expressions.map((expression) => originOf(expression, query));
  return origins.map((origin) => {
    const isAmong = (column: number) =>
      origins.some((other) => other?.entryNumber === origin!.entryNumber && other.column === column);
    return (origin && keyOf(origin.relation))?.every(isAmong) ?? false;
  });
}
