/** Refuses syntax that no view may contain, whatever its strategy. */
import { SetupError } from '../errors.js';
import { type Tree, visits } from './parse/tree.js';

const refusedNodes: Readonly<Record<string, string>> = {
  SQLValueFunction:
    'it uses CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_USER or a similar value, which changes without a write. Pass the value as a parameter, or keep it in a table',
  LockingClause: 'it locks rows (FOR UPDATE, FOR SHARE). Remove the locking clause',
  RangeTableSample: 'it uses TABLESAMPLE, whose result is not stable. Remove it',
  IntoClause: 'it has an INTO clause. Remove it',
  InsertStmt: 'it writes. A view can only read',
  UpdateStmt: 'it writes. A view can only read',
  DeleteStmt: 'it writes. A view can only read',
  MergeStmt: 'it writes. A view can only read',
  CurrentOfExpr: 'it uses CURRENT OF, which needs a cursor. Remove it',
};

/** Names that Tidemark's statements use beside a view's query: for WITH queries, and for aliases and columns. */
const queryNames = /^tidemark_/;
const aliases = /^tidemark_(c|s|parameters|u|after|key|other|cohort|value|[dkoprt]\d+)$/;

/**
 * Checks a query for syntax that no view may contain.
 * @throws SetupError if the query can never be a view; the message says why and what to do.
 */
export function inspect(select: Tree): void {
  for (const { type, node } of visits({ SelectStmt: select })) {
    const refused = refusedNodes[type];
    if (refused) throw new SetupError(refused);
    if (node.intoClause) throw new SetupError(refusedNodes.IntoClause!);
    if (type === 'RangeVar' && node.inh !== true) throw new SetupError(`it reads ONLY ${node.relname}. Remove ONLY`);
    checkName(node.ctename, queryNames);
    checkName((node.alias as Tree | undefined)?.aliasname ?? node.relname, aliases);
  }
}

function checkName(name: unknown, reserved: RegExp): void {
  if (reserved.test(String(name))) {
    throw new SetupError(`it uses the name ${name}, which Tidemark reserves for its own statements. Choose another`);
  }
}
