/** Converts text to the parse tree, and back. */
import { SetupError } from '../../errors.js';
import { write } from './deparse.js';
import { loadModule, parseSync } from './parser.js';
import { isTree, type Tree } from './tree.js';

/** Must have resolved before any function of this file is called, because the parser is WebAssembly. */
export const parserLoaded: Promise<void> = loadModule();

/** Parses a text that must be one SELECT and returns the SelectStmt. */
export function parseSelect(text: string): Tree {
  return parseStatement(text).select;
}

/** Parses a text that must be one SELECT. Returns the SelectStmt, and the text without the semicolon. */
export function parseStatement(input: string): { select: Tree; text: string } {
  const stmts = parse(input);
  if (stmts.length !== 1) throw new SetupError('the query must be exactly one statement');
  const { stmt, stmt_location = 0, stmt_len = 0 } = stmts[0]!;
  if (!stmt.SelectStmt) throw new SetupError('the query must be a SELECT');
  const text = stmt_len === 0 ? input : Buffer.from(input).toString('utf8', 0, stmt_location + stmt_len);
  return { select: stmt.SelectStmt, text };
}

interface RawStatement {
  readonly stmt: { readonly SelectStmt?: Tree };
  readonly stmt_location?: number | undefined;
  readonly stmt_len?: number | undefined;
}

function parse(text: string): readonly RawStatement[] {
  try {
    return (parseSync(text).stmts ?? []) as RawStatement[];
  } catch (error) {
    throw new SetupError(`the query does not parse: ${(error as Error).message}`);
  }
}

/** Returns the statements of a text, each under its type's name; undefined if the text is empty or does not parse. */
export function statementsOf(text: string): readonly Tree[] | undefined {
  try {
    return (parseSync(text).stmts ?? []).map(({ stmt }) => stmt as Tree);
  } catch {
    return undefined;
  }
}

/**
 * Writes a SELECT back to text, and verifies that the text parses to the same tree.
 * @throws SetupError that names the part that the deparser cannot write.
 */
export function deparseSelect(select: Tree): string {
  const text = written(select);
  const again = reread(text);
  if (!isSame(again, select)) throw unfaithful(`it contains a ${differingNode(select, again)}`);
  return text;
}

function written(select: Tree): string {
  try {
    return write(select);
  } catch (error) {
    // The library's message names each node on the path to the one that it could not write.
    const nodes = [...(error as Error).message.matchAll(/deparsing (\w+)/g)];
    throw unfaithful(`it contains a ${nodes.at(-1)![1]}`);
  }
}

function reread(text: string): Tree {
  try {
    return parseSelect(text);
  } catch (error) {
    throw unfaithful(`after rewriting, ${(error as Error).message}`);
  }
}

function unfaithful(reason: string): SetupError {
  return new SetupError(
    `it uses syntax that Tidemark cannot rewrite faithfully (${reason}). Write that part another way`,
  );
}

/** Returns the type, as in Postgres's grammar, of the innermost node that contains all differences of two trees. */
function differingNode(one: Tree, other: Tree, around = 'SelectStmt'): string {
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  const differing = [...keys].filter(
    (key) => canonicalJson({ [key]: one[key] }) !== canonicalJson({ [key]: other[key] }),
  );
  if (differing.length !== 1) return around;
  const key = differing[0]!;
  const [left, right] = [one[key], other[key]];
  if (!isTree(left) || !isTree(right)) return around;
  return differingNode(left, right, /^[A-Z]/.test(key) ? key : around);
}

/** Checks whether two trees are the same, except for locations in their texts. */
export function isSame(one: object, other: object): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** Returns a tree as JSON with sorted fields and without locations: the same for trees with the same meaning. */
export function canonicalJson(tree: object): string {
  return JSON.stringify(tree, (key, value: unknown) => {
    if (/^(location|.*_location|.*list_(start|end)|stmt_len)$/.test(key)) return undefined;
    if (!isTree(value) || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
