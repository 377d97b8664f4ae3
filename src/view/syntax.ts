/** The parse tree of Postgres's own parser (libpg-query), as plain JSON, and the walks over it. */
import { loadModule, parseSync } from 'libpg-query';
import { SetupError } from '../errors.js';
import { write } from './deparse.js';

/** A node's fields, or an object holding one node under its type's name: `{ RangeVar: { relname: 'todo' } }`. */
export type Tree = { [field: string]: unknown };

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
  const text = write(select);
  if (!isSame(parseSelect(text), select)) {
    throw new SetupError('it uses a form that cannot be rewritten faithfully. Write the query another way');
  }
  return text;
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

/** A deep copy that can be changed. */
export function cloneTree(tree: Tree): Tree {
  return structuredClone(tree);
}

export interface Visit {
  readonly type: string;
  readonly node: Tree;
}

/** Every node below a value, outermost first. The arms of a set operation, which the tree holds bare, count as SelectStmt. */
export function* visits(value: unknown): Generator<Visit> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    const type = nodeType(key, child);
    if (type) yield { type, node: child as Tree };
    yield* visits(child);
  }
}

function nodeType(key: string, child: unknown): string | undefined {
  if (typeof child !== 'object' || child === null || Array.isArray(child)) return undefined;
  if (/^[A-Z]/.test(key)) return key;
  return (key === 'larg' || key === 'rarg') && 'op' in child ? 'SelectStmt' : undefined;
}

/** The strings of a name list such as `[{ String: { sval: 'public' } }, …]`. */
export function names(list: unknown): string[] {
  return ((list ?? []) as { String?: { sval: string } }[]).map((item) => item.String?.sval ?? '*');
}

/** SQL text cut at its parameters: text[0] $params[0] text[1] $params[1] … */
export interface Template {
  readonly text: readonly string[];
  readonly params: readonly number[];
}

/** Cuts a SELECT at its parameters, found by the parser, so that quotes and comments cannot deceive. */
export function toTemplate(given: string): Template {
  const { select, text } = parseStatement(given);
  const bytes = Buffer.from(text);
  const refs = [...visits(select)]
    .filter((visit) => visit.type === 'ParamRef')
    .map(({ node }) => ({ start: node.location as number, number: node.number as number }))
    .sort((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let from = 0;
  for (const ref of refs) {
    pieces.push(bytes.toString('utf8', from, ref.start));
    from = ref.start + 1 + String(ref.number).length;
  }
  pieces.push(bytes.toString('utf8', from));
  return { text: pieces, params: refs.map((ref) => ref.number) };
}

/** Puts expressions, one per parameter number from 1, into a template: each a token of its own, whatever stands beside it. */
export function render(template: Template, values: readonly string[]): string {
  return template.text.reduce((out, piece, i) => `${out} (${values[template.params[i - 1]! - 1]!})${piece}`);
}
