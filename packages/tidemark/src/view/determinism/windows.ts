/** Makes the order in which window functions number, read or add up rows deterministic. */
import { SetupError } from '../../errors.js';
import { isExact } from '../analysis/exactness.js';
import { nodeList, numberOf, type QueryNode, queryNodes } from '../analysis/query-tree.js';
import { ascending } from '../parse/nodes.js';
import { type Level, scopesOf } from '../parse/scopes.js';
import { type Tree, visitsHere } from '../parse/tree.js';
import { dependsOnOrder } from './aggregates.js';
import { type DeterminismContext, identityOf } from './order.js';
import { hasTotalOrder } from './window-order.js';

/** Bits of a window's frameOptions (parsenodes.h). */
const RANGE = 0x2;
const ROWS = 0x4;
const START_UNBOUNDED_PRECEDING = 0x20;
const END_UNBOUNDED_FOLLOWING = 0x100;
const EXCLUDE_CURRENT_ROW = 0x8000;
const EXCLUDE_PEERS = 0x10000 | 0x20000;
/** RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW, the default. */
const defaultFrame = 1058;
/** ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING. */
const wholeFrame = 309;

/** Functions that give each row its own position in the order, whatever the frame. */
const positional = new Set(['row_number', 'ntile', 'lag', 'lead']);
/** Functions that give tied rows the same position. */
const ranking = new Set(['rank', 'dense_rank', 'percent_rank', 'cume_dist']);

/** @throws SetupError if the result of a window function is left to chance; the message says what to write. */
export function makeWindowsDeterministic(select: Tree, context: DeterminismContext): void {
  for (const level of scopesOf(select).levels) {
    for (const { node } of visitsHere(level.select)) {
      if (!node.over) continue;
      const analyzed = context.meaning.nodesOf(node).find(({ tag }) => tag === 'WINDOWFUNC');
      if (analyzed) orderWindowCall(node, analyzed, level, context);
    }
  }
}

function orderWindowCall(call: Tree, analyzed: QueryNode, level: Level, context: DeterminismContext): void {
  const { facts } = context;
  const routine = facts.routines.get(numberOf(analyzed, 'winfnoid')!)!;
  if ((routine.builtin && ranking.has(routine.name)) || hasTotalOrder(analyzed, level, context)) return;
  const window = withFrame(resolved(call.over as Tree, level.select));
  const frame = window.frameOptions as number;
  if (routine.builtin && positional.has(routine.name)) {
    const { startOffset: _, endOffset: __, ...rest } = window;
    call.over = ordered({ ...rest, frameOptions: defaultFrame }, level, context);
    return;
  }
  const exact = nodeList(analyzed, 'args').every((arg) => isExact(arg, facts));
  const isWhole = (frame & START_UNBOUNDED_PRECEDING) !== 0 && (frame & END_UNBOUNDED_FOLLOWING) !== 0;
  const dependsOnRows = (frame & ROWS) !== 0 && !isWhole;
  const picks = routine.kind === 'w';
  if (!picks && !dependsOnRows && !dependsOnOrder(routine, exact)) return;
  if (picks && routine.builtin && (frame & ROWS) === 0 && hasConstantArgs(analyzed)) return;
  const canBeOrdered = (frame & ROWS) !== 0 || (picks && (isWhole || startsFirst(routine.name, frame)));
  if (!canBeOrdered || (frame & EXCLUDE_PEERS) !== 0) {
    throw new SetupError(
      `it uses the window function ${routine.name} over tied rows, so its result is left to chance. Give it an ORDER BY and a ROWS frame, or use a subquery`,
    );
  }
  call.over = ordered(window, level, context);
}

const ofConstants = new Set(['CONST', 'PARAM', 'RELABELTYPE', 'COERCEVIAIO']);

/** True if a function has the same arguments for all rows. It does not matter then which row it reads. */
function hasConstantArgs(call: QueryNode): boolean {
  return [...queryNodes(call.fields.args)].every(({ tag }) => ofConstants.has(tag));
}

/** True if the function reads the first row, which is the same in every frame that begins with the partition. */
function startsFirst(name: string, frame: number): boolean {
  const isWithoutSome = (frame & (EXCLUDE_CURRENT_ROW | EXCLUDE_PEERS)) !== 0;
  return name === 'first_value' && !isWithoutSome && (frame & START_UNBOUNDED_PRECEDING) !== 0 && (frame & RANGE) !== 0;
}

/** Without an order, all rows are peers, and a RANGE frame contains all of them. */
function withFrame(window: Tree): Tree {
  const frame = window.frameOptions as number;
  if (window.orderClause || (frame & (ROWS | EXCLUDE_PEERS)) !== 0) return window;
  return { ...window, frameOptions: wholeFrame | (frame & EXCLUDE_CURRENT_ROW) };
}

/** Returns a window with everything that it inherits from the window that it refers to. */
function resolved(over: Tree, { windowClause }: Tree): Tree {
  const windowNamed = (name: unknown) =>
    ((windowClause ?? []) as { WindowDef: Tree }[]).find(({ WindowDef }) => WindowDef.name === name)?.WindowDef;
  const named = windowNamed(over.name);
  if (named) return resolved({ ...structuredClone(named), name: undefined }, { windowClause });
  const base = windowNamed(over.refname);
  if (!base) return over;
  const { partitionClause, orderClause } = resolved(structuredClone(base), { windowClause });
  return { ...over, refname: undefined, partitionClause, orderClause: over.orderClause ?? orderClause };
}

function ordered(window: Tree, level: Level, context: DeterminismContext): Tree {
  const identity = identityOf(level, context).map((node) => ascending(structuredClone(node)));
  const { name: _, refname: __, ...rest } = window;
  const orderClause = [...((window.orderClause ?? []) as Tree[]), ...identity];
  return orderClause.length > 0 ? { ...rest, orderClause } : rest;
}
