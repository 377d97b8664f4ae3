/** From text to the parse tree, and back. */
import { loadModule, parseSync } from 'libpg-query';
import { SetupError } from '../../errors.js';
import { write } from './deparse.js';
import type { Tree } from './tree.js';

/** Must have resolved before anything here is called: the parser is WebAssembly. */
export const parserLoaded: Promise<void> = loadModule();

/** Parses a text that must be one SELECT and returns the SelectStmt. */
export function parseSelect(text: string): Tree {
  return parseStatement(text).select;
}

/** Parses a text that must be one SELECT, and returns it also without the semicolon. */
export function parseStatement(given: string): { select: Tree; text: string } {
  const stmts = parse(given);
  if (stmts.length !== 1) throw new SetupError('the query must be exactly one statement');
  const { stmt, stmt_location = 0, stmt_len = 0 } = stmts[0]!;
  if (!stmt.SelectStmt) throw new SetupError('the query must be a SELECT');
  const text = stmt_len === 0 ? given : Buffer.from(given).toString('utf8', 0, stmt_location + stmt_len);
  return { select: stmt.SelectStmt, text };
}

interface RawStatement {
  readonly stmt: { readonly SelectStmt?: Tree };
  readonly stmt_location?: number;
  readonly stmt_len?: number;
}

function parse(text: string): readonly RawStatement[] {
  try {
    return (parseSync(text).stmts ?? []) as RawStatement[];
  } catch (error) {
    throw new SetupError(`the query does not parse: ${(error as Error).message}`);
  }
}

/**
 * Writes a SELECT back to text, and proves the text: it must parse to the same tree again.
 * @throws SetupError when the deparser cannot write this query faithfully.
 */
export function deparseSelect(select: Tree): string {
  const text = written(select);
  if (text === undefined || !isSame(parseSelect(text), select)) {
    throw new SetupError('it uses a form that cannot be rewritten faithfully. Write the query another way');
  }
  return text;
}

/** Undefined where the library knows no text for a node. */
function written(select: Tree): string | undefined {
  try {
    return write(select);
  } catch {
    return undefined;
  }
}

/** Whether two trees say the same, wherever their texts say it. */
export function isSame(one: Tree, other: Tree): boolean {
  return shape(one) === shape(other);
}

/** A tree without the places in its text, and with its fields in one order. */
function shape(tree: Tree): string {
  return JSON.stringify(tree, (key, value: unknown) => {
    if (/^(location|.*_location|.*list_(start|end)|stmt_len)$/.test(key)) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
