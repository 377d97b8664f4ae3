/** Makes a query's result a function of the rows of its tables. */
import type { Tree } from '../parse/tree.js';
import { makeAggregatesDeterministic } from './aggregates.js';
import { makeDuplicatesDeterministic } from './duplicates.js';
import { groupByColumns } from './grouping.js';
import { rewriteNotIn } from './not-in.js';
import { type DeterminismContext, makeOrdersDeterministic } from './order.js';
import { addSchemas, typeWholeRows } from './qualify.js';
import { makeWindowsDeterministic } from './windows.js';

/**
 * Makes the query's result depend on nothing but rows, whichever states of its tables it reads.
 * @returns true if several of the query's rows can share a key; see `makeDuplicatesDeterministic`
 * @throws SetupError if the query cannot be made deterministic; the message says what to write.
 */
export function makeDeterministic(select: Tree, context: DeterminismContext): boolean {
  const { meaning, namedTables } = context;
  const choosesByKey = makeDuplicatesDeterministic(select, context);
  groupByColumns(select, meaning, namedTables);
  makeOrdersDeterministic(select, context);
  makeAggregatesDeterministic(select, context);
  makeWindowsDeterministic(select, context);
  rewriteNotIn(select, context);
  typeWholeRows(select, meaning, namedTables);
  addSchemas(select, namedTables);
  return choosesByKey;
}
