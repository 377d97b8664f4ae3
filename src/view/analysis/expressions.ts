/** What Postgres knows about an analyzed expression: its type, its length or precision, its collation. */
import { type Field, isNode, nodeList, numberOf, type QueryNode } from './query-tree.js';

const BOOL = 16;
const INT4 = 23;

const typeFields = [
  'vartype', 'consttype', 'paramtype', 'funcresulttype', 'opresulttype', 'aggtype', 'wintype', 'resulttype', 'casetype',
  'coalescetype', 'minmaxtype', 'array_typeid', 'row_typeid', 'refrestype', 'type', 'typeId', 'typid',
]; // biome-ignore format: a list of names

const modifierFields = ['vartypmod', 'consttypmod', 'resulttypmod', 'reftypmod', 'typmod'];

const collationFields = [
  'varcollid', 'constcollid', 'paramcollid', 'funccollid', 'opcollid', 'aggcollid', 'wincollid', 'resultcollid',
  'casecollid', 'coalescecollid', 'minmaxcollid', 'array_collid', 'refcollid', 'collOid', 'collation',
]; // biome-ignore format: a list of names

const conditions = new Set([
  'BOOLEXPR',
  'NULLTEST',
  'BOOLEANTEST',
  'SCALARARRAYOPEXPR',
  'ROWCOMPAREEXPR',
  'ROWCOMPARE',
  'JSONISPREDICATE',
]);

/** Nodes that have the type of what they contain, with the field that contains it. */
const wrappers: Readonly<Record<string, string>> = {
  COLLATEEXPR: 'arg',
  COLLATE: 'arg',
  NAMEDARGEXPR: 'arg',
  TARGETENTRY: 'expr',
  JSONVALUEEXPR: 'formatted_expr',
};

/** The kinds of SubLink before this one have a boolean result (primnodes.h). */
const EXPR_SUBLINK = 4;

/** The OID of an expression's type; undefined if the node does not tell. */
export function typeOf(expression: QueryNode): number | undefined {
  const { tag, fields } = expression;
  if (conditions.has(tag)) return BOOL;
  if (tag === 'GROUPINGFUNC') return INT4;
  const inner = wrapped(expression);
  if (inner) return typeOf(inner);
  if (Number(fields.subLinkType) < EXPR_SUBLINK) return BOOL;
  if (Number(fields.subLinkType) === EXPR_SUBLINK) return typeOf(targets(fields.subselect as QueryNode)[0]!);
  return first(expression, typeFields);
}

/** The type modifier of an expression, as in `pg_attribute.atttypmod`: -1 if any length or precision is possible. */
export function modifierOf(expression: QueryNode): number {
  const inner = wrapped(expression);
  return inner ? modifierOf(inner) : (first(expression, modifierFields) ?? lengthCoercion(expression) ?? -1);
}

/** `amount::numeric(10, 2)` is analyzed as a call with the modifier as its second argument. */
function lengthCoercion(expression: QueryNode): number | undefined {
  const isCoercion = expression.tag === 'FUNCEXPR' && expression.fields.funcformat !== '0';
  return isCoercion && nodeList(expression, 'args')[1]?.tag === 'CONST' ? 0 : undefined;
}

/** The OID of the collation by which an expression's values are compared; 0 if there is none. */
export function collationOf(expression: QueryNode): number {
  const inner = wrapped(expression);
  return first(expression, collationFields) ?? (inner ? collationOf(inner) : 0);
}

/** Whether an expression turns one row into several, as `unnest(tags)` does. Subqueries in it do not count. */
export function returnsSet(expression: Field): boolean {
  if (Array.isArray(expression)) return expression.some(returnsSet);
  if (!isNode(expression) || expression.tag === 'QUERY') return false;
  const { funcretset, opretset } = expression.fields;
  return [funcretset, opretset].includes('true') || Object.values(expression.fields).some(returnsSet);
}

/** The columns of a query's result, without those that only its ORDER BY or GROUP BY needs. */
export function targets(query: QueryNode): QueryNode[] {
  return nodeList(query, 'targetList').filter(({ fields }) => fields.resjunk !== 'true');
}

function wrapped({ tag, fields }: QueryNode): QueryNode | undefined {
  const inner = fields[wrappers[tag] ?? ''];
  return isNode(inner) ? inner : undefined;
}

function first(node: QueryNode, fields: readonly string[]): number | undefined {
  for (const field of fields) {
    const value = numberOf(node, field);
    if (value !== undefined) return value;
  }
  return undefined;
}
