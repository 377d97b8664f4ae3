/** What a query names (tables, functions, operators), and what no view may contain whatever its strategy. */
import { SetupError } from '../errors.js';
import { names, type Path, type Tree, visits } from './syntax.js';

/** One place where the query reads a table. */
export interface Occurrence {
  readonly path: Path;
  readonly schema: string | undefined;
  readonly name: string;
}

export interface FunctionUse {
  readonly name: string;
  readonly argumentCount: number;
}

export interface Inspection {
  readonly occurrences: readonly Occurrence[];
  readonly functions: readonly FunctionUse[];
  readonly operators: readonly string[];
}

const refusedNodes: Readonly<Record<string, string>> = {
  SQLValueFunction:
    'it uses CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_USER or the like, which change without a write. Pass such a value as a parameter, or keep it in a table',
  LockingClause: 'it locks rows (FOR UPDATE, FOR SHARE). Remove the locking clause',
  RangeTableSample: 'it uses TABLESAMPLE, which has no stable result. Remove it',
  IntoClause: 'it has an INTO clause. Remove it',
  InsertStmt: 'it writes. A view can only read',
  UpdateStmt: 'it writes. A view can only read',
  DeleteStmt: 'it writes. A view can only read',
  MergeStmt: 'it writes. A view can only read',
  CurrentOfExpr: 'it uses CURRENT OF, which needs a cursor. Remove it',
};

const orderSensitive = new Set(['array_agg', 'json_agg', 'jsonb_agg', 'string_agg', 'xmlagg', 'jsonb_object_agg']);
const dateTypes = new Set(['date', 'time', 'timetz', 'timestamp', 'timestamptz']);
const movingDates = new Set(['now', 'today', 'tomorrow', 'yesterday']);

/**
 * Collects what a view's query names.
 * @throws SetupError when the query can never be a view; the message says why and what to do.
 */
export function inspect(select: Tree): Inspection {
  const functions: FunctionUse[] = [];
  const operators = new Set<string>();
  for (const { type, node } of visits({ SelectStmt: select })) {
    const refused = refusedNodes[type];
    if (refused) throw new SetupError(refused);
    if (type === 'SelectStmt') checkSelect(node);
    if (type === 'TypeCast') checkDateCast(node);
    if (type === 'FuncCall') functions.push(functionUse(node));
    if (type === 'A_Expr') operators.add(names(node.name).at(-1)!);
  }
  return { occurrences: occurrences(select), functions, operators: [...operators] };
}

function checkSelect(select: Tree): void {
  if (select.intoClause) throw new SetupError(refusedNodes.IntoClause!);
  if ((select.limitCount || select.limitOffset) && !select.sortClause) {
    throw new SetupError(
      'it has LIMIT or OFFSET without ORDER BY, so which rows it holds is left to chance. Add an ORDER BY that ends in a unique column',
    );
  }
  const distinctOn = (select.distinctClause as Tree[] | undefined)?.some((item) => Object.keys(item).length > 0);
  if (distinctOn && !select.sortClause) {
    throw new SetupError('it has DISTINCT ON without ORDER BY, so which rows it holds is left to chance. Add one');
  }
  checkAggregateOrder(select);
}

/** The order in which rows reach `array_agg` and its like is part of their result, so it must be given. */
function checkAggregateOrder(select: Tree): void {
  const from = (select.fromClause ?? []) as Tree[];
  const fromSorted =
    from.length === 1 &&
    Boolean(((from[0]!.RangeSubselect as Tree)?.subquery as { SelectStmt: Tree })?.SelectStmt?.sortClause);
  for (const { type, node } of visits(select.targetList)) {
    const name = type === 'FuncCall' ? names(node.funcname).at(-1)! : '';
    if (orderSensitive.has(name) && !node.agg_order && !fromSorted) {
      throw new SetupError(
        `it uses ${name} without an order. Write ${name}(… ORDER BY …) so that equal data give equal results`,
      );
    }
  }
}

function checkDateCast(cast: Tree): void {
  const text = ((cast.arg as Tree).A_Const as { sval?: { sval?: string } } | undefined)?.sval?.sval;
  const type = names((cast.typeName as Tree).names).at(-1)!;
  if (text !== undefined && dateTypes.has(type) && movingDates.has(text.trim().toLowerCase())) {
    throw new SetupError(`it uses '${text}'::${type}, which changes without a write. Pass the time as a parameter`);
  }
}

function functionUse(call: Tree): FunctionUse {
  const name = names(call.funcname).at(-1)!;
  return { name, argumentCount: ((call.args ?? []) as unknown[]).length };
}

/** The places where tables are read. A name of a WITH query in scope is no table. */
function occurrences(select: Tree): Occurrence[] {
  const found: Occurrence[] = [];
  collect({ SelectStmt: select }, [], new Set(), found);
  return found.map((occurrence) => ({ ...occurrence, path: occurrence.path.slice(1) }));
}

function collect(value: unknown, path: Path, scope: ReadonlySet<string>, found: Occurrence[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    value.forEach((item, i) => void collect(item, [...path, i], scope, found));
    return;
  }
  const tree = value as Tree;
  const inner = tree.withClause ? collectWith(tree.withClause as Tree, [...path, 'withClause'], scope, found) : scope;
  for (const [key, child] of Object.entries(tree)) {
    if (key === 'withClause') continue;
    if (key === 'RangeVar') collectRange(child as Tree, [...path, key], inner, found);
    else collect(child, [...path, key], inner, found);
  }
}

function collectWith(clause: Tree, path: Path, outer: ReadonlySet<string>, found: Occurrence[]): ReadonlySet<string> {
  const queries = (clause.ctes as { CommonTableExpr: Tree }[]).map((cte) => cte.CommonTableExpr);
  const scope = new Set(outer);
  if (clause.recursive) for (const query of queries) scope.add(query.ctename as string);
  queries.forEach((query, i) => {
    collect(query.ctequery, [...path, 'ctes', i, 'CommonTableExpr', 'ctequery'], new Set(scope), found);
    scope.add(query.ctename as string);
  });
  return scope;
}

function collectRange(range: Tree, path: Path, scope: ReadonlySet<string>, found: Occurrence[]): void {
  const schema = range.schemaname as string | undefined;
  const name = range.relname as string;
  if (schema === undefined && scope.has(name)) return;
  if (range.inh !== true) throw new SetupError(`it reads ONLY ${name}. Remove ONLY`);
  found.push({ path, schema, name });
}
