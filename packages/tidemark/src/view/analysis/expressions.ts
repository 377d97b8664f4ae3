/** Reads the type, the length or precision, and the collation of an analyzed expression. */
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

/** Nodes whose type is that of their content, with the field that holds the content. */
const wrappers: Readonly<Record<string, string>> = {
  COLLATEEXPR: 'arg',
  COLLATE: 'arg',
  NAMEDARGEXPR: 'arg',
  TARGETENTRY: 'expr',
  JSONVALUEEXPR: 'formatted_expr',
};

/** The kinds of SubLink before this one have a boolean result (primnodes.h). */
const EXPR_SUBLINK = 4;

/** Returns the OID of an expression's type; undefined if the node does not contain it. */
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

/** Returns the type modifier of an expression, as in `pg_attribute.atttypmod`. -1 allows any length or precision. */
export function modifierOf(expression: QueryNode): number {
  const inner = wrapped(expression);
  return inner ? modifierOf(inner) : (first(expression, modifierFields) ?? lengthCoercion(expression) ?? -1);
}

/** Postgres analyzes `amount::numeric(10, 2)` as a call with the modifier as its second argument. */
function lengthCoercion(expression: QueryNode): number | undefined {
  const isCoercion = expression.tag === 'FUNCEXPR' && expression.fields.funcformat !== '0';
  return isCoercion && nodeList(expression, 'args')[1]?.tag === 'CONST' ? 0 : undefined;
}

/** Returns the OID of the collation with which Postgres compares an expression's values; 0 if there is none. */
export function collationOf(expression: QueryNode): number {
  const inner = wrapped(expression);
  return first(expression, collationFields) ?? (inner ? collationOf(inner) : 0);
}

/** Checks whether an expression turns one row into several, as `unnest(tags)` does. Ignores subqueries in it. */
export function returnsSet(expression: Field): boolean {
  if (Array.isArray(expression)) return expression.some(returnsSet);
  if (!isNode(expression) || expression.tag === 'QUERY') return false;
  const { funcretset, opretset } = expression.fields;
  return [funcretset, opretset].includes('true') || Object.values(expression.fields).some(returnsSet);
}

/** Returns the columns of a query's result, without those that only its ORDER BY or GROUP BY needs. */
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
