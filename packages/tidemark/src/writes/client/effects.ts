import { statementsOf } from '../../view/parse/syntax.js';
import { names, type Tree, visits } from '../../view/parse/tree.js';

/** The effect of a statement that is not plain on its transaction and its connection. */
export type Effect =
  /** Begins or ends a transaction. */
  | { readonly kind: 'begin' | 'commit' | 'rollback' }
  /** Requests characteristics that every mutator transaction has. */
  | { readonly kind: 'characteristics' }
  /** Must not be sent. The reason is for the mutator's author. */
  | { readonly kind: 'forbidden'; readonly reason: string }
  /** Anything else. `mayLast` is true if it may change the connection beyond the end of the transaction. */
  | { readonly kind: 'other'; readonly mayLast: boolean };

const serializable = 'The transaction of a mutator is REPEATABLE READ; it cannot be SERIALIZABLE';
const readOnly = 'The transaction of a mutator cannot be READ ONLY';
const otherEnd = 'A mutator cannot chain or prepare transactions';
const inOneText = 'BEGIN, COMMIT and ROLLBACK must be queries of their own, not part of a text with other statements';

/** Returns the effect of a query's text; undefined stands for an unknown text. */
export function effectOf(text: string | undefined): Effect {
  // Postgres most likely cannot read a text that this parser cannot read.
  const effects = text === undefined ? undefined : statementsOf(text)?.map(effectOfOne);
  if (effects === undefined) return { kind: 'other', mayLast: true };
  if (effects.length === 1) return effects[0]!;
  const forbidden = effects.find(({ kind }) => kind === 'forbidden');
  if (forbidden !== undefined) return forbidden;
  if (effects.some(({ kind }) => kind === 'begin' || kind === 'commit' || kind === 'rollback')) {
    return { kind: 'forbidden', reason: inOneText };
  }
  return { kind: 'other', mayLast: effects.some((effect) => effect.kind === 'other' && effect.mayLast) };
}

function effectOfOne(statement: Tree): Effect {
  const [[type, fields]] = Object.entries(statement) as [[string, Tree]];
  if (type === 'TransactionStmt') return effectOnTransaction(fields);
  if (type === 'VariableSetStmt' && fields.kind === 'VAR_SET_MULTI' && fields.name === 'TRANSACTION') {
    return withCharacteristics(fields.args, 'characteristics');
  }
  return { kind: 'other', mayLast: mayLast(type, fields) };
}

function effectOnTransaction({ kind, chain, options }: Tree): Effect {
  if (chain) return { kind: 'forbidden', reason: otherEnd };
  switch (kind) {
    case 'TRANS_STMT_BEGIN':
    case 'TRANS_STMT_START':
      return withCharacteristics(options, 'begin');
    case 'TRANS_STMT_COMMIT':
      return { kind: 'commit' };
    case 'TRANS_STMT_ROLLBACK':
      return { kind: 'rollback' };
    case 'TRANS_STMT_SAVEPOINT':
    case 'TRANS_STMT_RELEASE':
    case 'TRANS_STMT_ROLLBACK_TO':
      return { kind: 'other', mayLast: false };
    default:
      return { kind: 'forbidden', reason: otherEnd };
  }
}

/** Accepts isolation levels weaker than REPEATABLE READ, because the transaction gives stronger guarantees. */
function withCharacteristics(options: unknown, kind: 'begin' | 'characteristics'): Effect {
  for (const { DefElem } of (options ?? []) as { DefElem: { defname: string; arg: Tree } }[]) {
    const { sval, ival } = DefElem.arg.A_Const as { sval?: { sval: string }; ival?: { ival?: number } };
    if (sval?.sval === 'serializable') return { kind: 'forbidden', reason: serializable };
    if (DefElem.defname === 'transaction_read_only' && ival?.ival) return { kind: 'forbidden', reason: readOnly };
  }
  return { kind };
}

/** Statements that leave no state in the session, unless a function or an INTO in them does. */
const passing = new Set([
  'SelectStmt',
  'InsertStmt',
  'UpdateStmt',
  'DeleteStmt',
  'MergeStmt',
  'CopyStmt',
  'TruncateStmt',
  'LockStmt',
  'NotifyStmt',
  'ConstraintsSetStmt',
  'VariableShowStmt',
]);

function mayLast(type: string, fields: Tree): boolean {
  if (type === 'VariableSetStmt') return !fields.is_local;
  if (type === 'CreateStmt') return fields.oncommit !== 'ONCOMMIT_DROP';
  if (!passing.has(type)) return true;
  if ('intoClause' in fields) return true;
  return [...visits(fields)].some(({ type, node }) => type === 'FuncCall' && callMayLast(node));
}

function callMayLast({ funcname, args }: Tree): boolean {
  const name = names(funcname).at(-1)!;
  if (name === 'set_config') return !isTrue((args as readonly Tree[] | undefined)?.[2]);
  return /advisory_lock/.test(name);
}

function isTrue(argument: Tree | undefined): boolean {
  const { boolval } = (argument?.A_Const ?? {}) as { boolval?: { boolval?: boolean } };
  return boolval?.boolval === true;
}
