/** Finds which columns of a query's entries determine others, because its conditions equate them. Pure. */
import { columnReadBy } from '../exactness.js';
import { collationOf } from '../expressions.js';
import { isNode, nodeList, numberOf, type QueryNode } from '../query-tree.js';

/** A column of an entry in the query's range table: the entry's number, and the column's. */
export type Column = `${number}.${number}`;

/** The second column has one value for each value of the first. For a constant, there is no first column. */
export type Dependency = readonly [from: Column | undefined, to: Column];

export interface Joined {
  readonly entries: readonly number[];
  /** The entries among these that an outer join may fill with nulls. */
  readonly nullable: readonly number[];
  readonly dependencies: readonly Dependency[];
}

const inner = '0';
const leftJoin = '1';

/** Returns what a part of FROM reads and the dependencies that its conditions imply; undefined if unknown. */
export function joinedIn(item: QueryNode, query: QueryNode): Joined | undefined {
  if (item.tag === 'RANGETBLREF') return { entries: [numberOf(item, 'rtindex')!], nullable: [], dependencies: [] };
  const { jointype = inner, larg, rarg } = item.fields;
  const items = item.tag === 'FROMEXPR' ? nodeList(item, 'fromlist') : [larg, rarg].filter(isNode);
  const parts = items.map((part) => joinedIn(part, query)).filter((part) => part !== undefined);
  if (parts.length < items.length || ![inner, leftJoin].includes(jointype as string)) return undefined;
  const implied = isNode(item.fields.quals) ? dependenciesOf(item.fields.quals, query) : [];
  const isOfRight = (column: Column) => parts[1]!.entries.includes(Number.parseInt(column, 10));
  // The condition of an outer join decides which rows of the right side match. It implies nothing about the left.
  const valid = jointype === leftJoin ? implied.filter(([, to]) => isOfRight(to)) : implied;
  return {
    entries: parts.flatMap(({ entries }) => entries),
    nullable: [...parts.flatMap(({ nullable }) => nullable), ...(jointype === leftJoin ? parts[1]!.entries : [])],
    dependencies: [...parts.flatMap(({ dependencies }) => dependencies), ...valid],
  };
}

/** The operators = of integers, numeric, text, uuid, dates and times, oid and boolean, also of mixed types. */
const equalities = new Set([
  15, 91, 94, 96, 98, 410, 416, 532, 533, 607, 1054, 1093, 1320, 1752, 1862, 1868, 2060, 2972,
]);

function dependenciesOf(condition: QueryNode, query: QueryNode): Dependency[] {
  return equalitiesIn(condition).flatMap(([from, to]): Dependency[] => {
    const column = columnOf(relabeled(to), query);
    if (!column) return [];
    if (isConstant(from)) return [[undefined, column]];
    const fromColumn = columnOf(relabeled(from), query);
    return fromColumn ? [[fromColumn, column]] : [];
  });
}

/** Returns the equalities that a condition implies, in both directions. One value of `from` means one value of `to`. */
export function equalitiesIn(condition: QueryNode): (readonly [from: QueryNode, to: QueryNode])[] {
  const args = nodeList(condition, 'args');
  if (condition.fields.boolop === 'and') return args.flatMap(equalitiesIn);
  const [one, other] = args;
  if (!one || !other || !equalities.has(numberOf(condition, 'opno') ?? 0)) return [];
  const collation = numberOf(condition, 'inputcollid') ?? 0;
  const both = [
    [one, other],
    [other, one],
  ] as const;
  // With another collation, different values of a side could equal one value.
  return both.filter(([, to]) => collationOf(to) === collation);
}

function isConstant(expression: QueryNode): boolean {
  const { tag, fields } = relabeled(expression);
  const isCast = tag === 'COERCEVIAIO' || (tag === 'FUNCEXPR' && fields.funcformat !== '0');
  if (isCast) return [fields.arg, ...nodeList(expression, 'args')].filter(isNode).every(isConstant);
  return tag === 'CONST' || tag === 'PARAM';
}

export function columnOf(expression: QueryNode, query: QueryNode): Column | undefined {
  const found = columnReadBy(expression, query);
  return found && found.column > 0 ? `${found.entryNumber}.${found.column}` : undefined;
}

/** Returns an expression without casts that leave its value unchanged. */
export function relabeled(expression: QueryNode): QueryNode {
  const { tag, fields } = expression;
  return tag === 'RELABELTYPE' && isNode(fields.arg) ? relabeled(fields.arg) : expression;
}

const text = 25;

/** The operators || of text, and of text and any other type. */
const concatenations = new Set([374, 654, 2779]);

/** Returns the part that an expression determines: the operand of a cast to text, or of || with a constant. */
export function injected(expression: QueryNode): QueryNode {
  const { tag, fields } = expression;
  if (tag === 'TARGETENTRY' && isNode(fields.expr)) return injected(fields.expr);
  const keepsValue = tag === 'RELABELTYPE' || (tag === 'COERCEVIAIO' && numberOf(expression, 'resulttype') === text);
  if (keepsValue && isNode(fields.arg)) return injected(fields.arg);
  if (!concatenations.has(numberOf(expression, 'opno') ?? 0)) return expression;
  const [one, ...others] = nodeList(expression, 'args').filter((arg) => relabeled(arg).tag !== 'CONST');
  return one && others.length === 0 ? injected(one) : expression;
}
