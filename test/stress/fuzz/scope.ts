/** The names that an expression can use at its place in a query. */
import type { Choices } from './choices.js';
import { marked, seq, type Tree } from './tree.js';
import { castName, type SqlType } from './types.js';

/** One way to write a reference. */
export interface Way {
  readonly text: string;
  /** The name that an inner query hides if it uses it for something of its own. */
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
  /** In a grouped query, an expression instead of ways. */
  readonly tree?: Tree;
  /** The reason why views must not use it. */
  readonly illegal?: string;
}

/** A FROM item. */
export interface Source {
  readonly tag: string;
  readonly columns: readonly Visible[];
  /** The key of its rows; undefined if there is none. */
  readonly key: readonly Visible[] | undefined;
  /** The names of its columns and items, which hide those of outer queries. */
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
  /** The names of all inner levels. */
  readonly hidden: ReadonlySet<string>;
}

function* levelsOf(scope: Scope): Generator<Level> {
  let hidden: ReadonlySet<string> = new Set();
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    yield { sources: at.sources, hidden };
    hidden = new Set([...hidden, ...at.sources.flatMap(({ names }) => [...names])]);
  }
}

/** The references that are visible here, each with the ways that lead to it. */
export function visibleIn(scope: Scope, of: (source: Source) => readonly Visible[]): Visible[] {
  return [...levelsOf(scope)].flatMap(({ sources, hidden }) =>
    sources.flatMap(of).flatMap((visible) => {
      const ways = visible.ways.filter(({ head }) => !hidden.has(head));
      return visible.tree === undefined && ways.length === 0 ? [] : [{ ...visible, ways }];
    }),
  );
}

/** True if an item of this query or of an outer one has the name. */
export function isNamed(scope: Scope, name: string): boolean {
  return [...levelsOf(scope)].some(({ sources }) => sources.some(({ names }) => names.has(name)));
}

export function rowsIn(scope: Scope): Way[] {
  return [...levelsOf(scope)].flatMap(({ sources, hidden }) =>
    sources.flatMap(({ rows }) => rows).filter(({ head }) => !hidden.has(head)),
  );
}

/** Writes a reference in one of its ways. */
export function reference(choices: Choices, { ways, tree, tag, type, illegal }: Visible): Tree {
  const written = tree ?? choices.pick(ways).text;
  if (illegal !== undefined) return marked({ kind: 'illegal', reason: illegal }, written);
  return tag === undefined ? seq(written) : { tag, least: `null::${castName(type)}`, parts: [written] };
}
