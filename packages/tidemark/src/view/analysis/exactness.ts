/**
 * Finds values that can differ although Postgres considers them equal, such as 1.0 and 1.00, or letters in a
 * case-insensitive collation. A query that keeps one of several equal values may keep any of them.
 */
import type { Table } from '../../catalog/tables.js';
import type { TypePart } from '../../catalog/types.js';
import { collationOf, modifierOf, typeOf } from './expressions.js';
import { type Facts, partsOf } from './facts.js';
import { isNode, nodeList, numberOf, type QueryNode } from './query-tree.js';

/** Types whose equal values always have the same text. */
const exactTypes = new Set(
  `bool bytea char cid cidr date inet int2 int4 int8 macaddr macaddr8 money name oid pg_lsn text tid time timestamp
  timestamptz timetz tsvector uuid varbit varchar bit xid xid8`.split(/\s+/),
);

/** Types that are exact with a declared length or precision, to which Postgres pads or rounds their values. */
const exactWithModifier = new Set(['numeric', 'bpchar']);

/** Advice for values that can be equal but written differently. */
export const castAdvice =
  'cast numeric values, as in numeric(12, 2); use lower(…) collate "C" for case-insensitive text; cast anything else to text';

/** Checks whether equal values of an expression always have the same text. */
export function isExact(expression: QueryNode, facts: Facts): boolean {
  const parts = partsOf(typeOf(expression), facts);
  if (parts.length === 0 || facts.alikeCollations.has(collationOf(expression))) return false;
  const hasModifier = modifierOf(expression) >= 0;
  return parts.filter(({ isLeaf }) => isLeaf).every((part) => isExactPart(part, hasModifier));
}

function isExactPart({ builtin, name, kind, alike }: TypePart, hasModifier: boolean): boolean {
  const isExactType = exactTypes.has(name) || (hasModifier && exactWithModifier.has(name));
  return !alike && (kind === 'e' || (builtin && isExactType));
}

/** A column of an entry in a query's range table. */
interface ReadColumn {
  /** The entry: a table, a subquery, a function or the like. */
  readonly entry: QueryNode;
  /** The number of the entry, from 1. */
  readonly entryNumber: number;
  readonly column: number;
}

/** A column of a table. */
interface Origin extends ReadColumn {
  readonly relation: number;
}

/** Returns what a reference refers to, through joins and, since Postgres 18, the list of grouping expressions. */
export function resolvedIn(query: QueryNode, expression: QueryNode): QueryNode {
  const node = isNode(expression.fields.expr) && expression.tag === 'TARGETENTRY' ? expression.fields.expr : expression;
  if (numberOf(node, 'varlevelsup') !== 0) return node;
  const entry = nodeList(query, 'rtable')[numberOf(node, 'varno')! - 1]!;
  const expressions = [...nodeList(entry, 'joinaliasvars'), ...nodeList(entry, 'groupexprs')];
  const inner = expressions[numberOf(node, 'varattno')! - 1];
  return inner ? resolvedIn(query, inner) : node;
}

/** Returns the range table column that an expression refers to; undefined if it is anything else. */
export function columnReadBy(expression: QueryNode, query: QueryNode): ReadColumn | undefined {
  const node = resolvedIn(query, expression);
  if (numberOf(node, 'varlevelsup') !== 0) return undefined;
  const entryNumber = numberOf(node, 'varno')!;
  return { entry: nodeList(query, 'rtable')[entryNumber - 1]!, entryNumber, column: numberOf(node, 'varattno')! };
}

/** Returns the table column that an expression refers to; undefined if it is anything else. */
export function originOf(expression: QueryNode, query: QueryNode): Origin | undefined {
  const found = columnReadBy(expression, query);
  const relation = found && numberOf(found.entry, 'relid');
  return relation ? { ...found, relation } : undefined;
}

/** The columns of tables' primary keys, by the tables' OIDs. */
export type PrimaryKeys = ReadonlyMap<number, readonly number[]>;

/** Returns the primary keys of these tables. */
export function primaryKeysOf(tables: readonly Table[]): PrimaryKeys {
  return new Map(tables.map(({ oid, primaryKey }) => [oid, primaryKey.map(({ attnum }) => attnum)]));
}

/**
 * Checks for each expression whether it is a column of a table whose whole primary key is among the expressions. Equal
 * values then come from one row of the table, and are identical.
 */
export function keyed(expressions: readonly QueryNode[], query: QueryNode, primaryKeys: PrimaryKeys): boolean[] {
  const origins = expressions.map((expression) => originOf(expression, query));
  return origins.map((origin) => {
    const isAmong = (column: number) =>
      origins.some((other) => other?.entryNumber === origin!.entryNumber && other.column === column);
    return (origin && primaryKeys.get(origin.relation))?.every(isAmong) ?? false;
  });
}
