/** What an expression can name at its place in a query. */
import type { Choices } from './choices.js';
import { marked, seq, type Tree } from './tree.js';
import { castName, type SqlType } from './types.js';

/** One way to write a reference. */
export interface Way {
  readonly text: string;
  /** Names that hide it where an inner query gives them to something of its own. */
  readonly head: string;
}

/** A column, or an expression that counts as one. */
export interface Visible {
  readonly type: SqlType;
  readonly isNotNull: boolean;
  /** See `Output`. */
  readonly isNullByJoin?: boolean;
  readonly ways: readonly Way[];
  readonly tag?: string;
  /** In place of ways, an expression: of a grouped query. */
  readonly tree?: Tree;
  /** Why no view may use it. */
  readonly illegal?: string;
}

/** One item of FROM. */
export interface Source {
  readonly tag: string;
  readonly columns: readonly Visible[];
  /** What tells its rows apart; undefined where nothing does. */
  readonly key: readonly Visible[] | undefined;
  /** Names of columns and items that it brings, which hide those of outer queries. */
  readonly names: ReadonlySet<string>;
  /** The ways to name a whole row. */
  readonly rows: readonly Way[];
  /** Functions of the row in attribute notation. */
  readonly attributes: readonly Visible[];
}

export interface Scope {
  readonly sources: readonly Source[];
  readonly outer?: Scope;
}

export const noScope: Scope = { sources: [] };

interface Level {
  readonly sources: readonly Source[];
  /** Names of all levels further in. */
  readonly hidden: ReadonlySet<string>;
}

function* levelsOf(scope: Scope): Generator<Level> {
  let hidden: ReadonlySet<string> = new Set();
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    yield { sources: at.sources, hidden };
    hidden = new Set([...hidden, ...at.sources.flatMap(({ names }) => [...names])]);
  }
}

/** What may be named here, with the ways that lead to it. */
export function visibleIn(scope: Scope, of: (source: Source) => readonly Visible[]): Visible[] {
  return [...levelsOf(scope)].flatMap(({ sources, hidden }) =>
    sources.flatMap(of).flatMap((visible) => {
      const ways = visible.ways.filter(({ head }) => !hidden.has(head));
      return visible.tree === undefined && ways.length === 0 ? [] : [{ ...visible, ways }];
    }),
  );
}

/** Whether an item here, or of a query further out, brings the name. */
export function isNamed(scope: Scope, name: string): boolean {
  return [...levelsOf(scope)].some(({ sources }) => sources.some(({ names }) => names.has(name)));
}

export function rowsIn(scope: Scope): Way[] {
  return [...levelsOf(scope)].flatMap(({ sources, hidden }) =>
    sources.flatMap(({ rows }) => rows).filter(({ head }) => !hidden.has(head)),
  );
}

/** Written in one of its ways. */
export function reference(choices: Choices, { ways, tree, tag, type, illegal }: Visible): Tree {
  const written = tree ?? choices.pick(ways).text;
  if (illegal !== undefined) return marked({ kind: 'illegal', reason: illegal }, written);
  return tag === undefined ? seq(written) : { tag, least: `null::${castName(type)}`, parts: [written] };
}
