/** Makes the order in which aggregates receive rows deterministic, if their result depends on it. */
import type { Routine } from '../../catalog/routines.js';
import { SetupError } from '../../errors.js';
import { castAdvice, isExact } from '../analysis/exactness.js';
import type { Facts } from '../analysis/facts.js';
import { nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';
import { ascending, bytes } from '../parse/nodes.js';
import { scopesOf } from '../parse/scopes.js';
import { type Tree, visitsHere } from '../parse/tree.js';
import { type DeterminismContext, isSequence } from './order.js';

/** Aggregates whose result contains the values in order. */
const listing = /^(array_agg|string_agg|xmlagg|jsonb?_agg(_strict)?|json_object_agg(_strict|_unique|_unique_strict)?)$/;
/** Aggregates that round their result after each row, if the numbers are floating-point. */
const rounding = /^(sum|avg|corr|covar_\w+|regr_\w+|stddev\w*|var\w*)$/;
const floating = /\((double precision|real)/;
/** Aggregates that return one of the values, or the last one for each key. */
const choosing = /^(any_value|jsonb_object_agg(_strict)?)$/;
/** Aggregates that return one of several values that they consider equal. */
const choosingOfEqual = /^(min|max|mode|percentile_disc)$/;

/** @throws SetupError if the result of an aggregate is left to chance; the message says what to write. */
export function makeAggregatesDeterministic(select: Tree, { meaning, facts }: DeterminismContext): void {
  for (const { select: level } of scopesOf(select).levels) {
    const alone = isSequence(level);
    for (const { type, node } of visitsHere(level)) {
      if (type === 'JsonObjectAgg' || type === 'JsonArrayAgg') orderJsonAggregate(type, node, alone);
      const [aggregate] = type === 'FuncCall' && !node.over ? meaning.nodesOf(node).filter(isAggregate) : [];
      const routine = aggregate && facts.routines.get(numberOf(aggregate, 'aggfnoid')!);
      if (routine && !alone) orderAggregateCall(node, aggregate, routine, facts);
    }
  }
}

function isAggregate({ tag }: QueryNode): boolean {
  return tag === 'AGGREF';
}

function orderAggregateCall(call: Tree, aggregate: QueryNode, routine: Routine, facts: Facts): void {
  const args = (call.args ?? []) as Tree[];
  const isListing = routine.builtin && listing.test(routine.name);
  const exact = nodeList(aggregate, 'args').every((arg) => isExact(arg, facts));
  if (!dependsOnOrder(routine, exact)) return;
  if (call.agg_within_group) throw alike(routine);
  if (call.agg_distinct) {
    // DISTINCT already sorts by the arguments, and allows no other order.
    if (!exact) throw alike(routine);
    call.agg_order ??= args.map(ascending);
    return;
  }
  if (isListing && !call.agg_order) throw withoutOrder(routine.name);
  const values = args.filter((arg) => !arg.A_Const && !arg.ParamRef);
  const order = [...((call.agg_order ?? []) as Tree[]), ...values.map((arg) => ascending(bytes(structuredClone(arg))))];
  // Without an order, all rows have the same values. An empty list would not be a clause.
  if (order.length > 0) call.agg_order = order;
}

/** Checks whether an aggregate's result depends on the order of rows. User-defined aggregates count as dependent. */
export function dependsOnOrder({ builtin, name, signature }: Routine, exact: boolean): boolean {
  if (!builtin) return true;
  if (listing.test(name) || choosing.test(name)) return true;
  return (rounding.test(name) && floating.test(signature)) || (choosingOfEqual.test(name) && !exact);
}

function orderJsonAggregate(type: string, node: Tree, alone: boolean): void {
  if (alone) return;
  if (type === 'JsonObjectAgg') {
    throw new SetupError(
      'it uses JSON_OBJECTAGG, which does not accept ORDER BY. Write json_object_agg(key, value ORDER BY …)',
    );
  }
  const made = node.constructor as unknown as Tree;
  if (!made.agg_order) throw withoutOrder('JSON_ARRAYAGG');
  const value = (node.arg as Tree).raw_expr as Tree;
  made.agg_order = [...(made.agg_order as Tree[]), ascending(bytes(structuredClone(value)))];
}

function withoutOrder(name: string): SetupError {
  return new SetupError(
    `it uses ${name} without ORDER BY. Write ${name}(… ORDER BY …) so that the same data gives the same result`,
  );
}

function alike({ name }: Routine): SetupError {
  return new SetupError(
    `it uses ${name} over values that can be equal but written differently, such as 1.0 and 1.00, so which one it returns is left to chance. Write them uniformly: ${castAdvice}`,
  );
}
