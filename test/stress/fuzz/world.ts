/** The knowledge that the parts of the grammar share about a query, and their calls of each other. */
import type { Choices } from './choices.js';
import type { Schema } from './schema.js';
import type { Scope } from './scope.js';
import type { Signature } from './signature.js';
import type { Parameter, Tree } from './tree.js';
import type { SqlType } from './types.js';

/** The data of one query of a view. Nothing is left over from another one. */
export interface World {
  readonly choices: Choices;
  readonly schema: Schema;
  readonly version: number;
  readonly grammar: Grammar;
  /** The available signatures, by the family of the result; those with a variable, by the variable. */
  readonly signatures: ReadonlyMap<string, readonly Signature[]>;
  readonly parameters: { readonly type: SqlType; readonly parameter: Parameter }[];
  /** The reason for which the query must be refused, if it should be and does not contain one yet. */
  poison: Signature | undefined;
  /** The remaining size of the query. */
  budget: number;
  /** The argument scopes of the aggregates written so far. Their queries are grouped. */
  readonly aggregated: Set<Scope>;
  /** Counts names that must differ. */
  names: number;
}

/** A place in a query. */
export interface Site {
  readonly world: World;
  readonly scope: Scope;
  /** The number of levels that can follow below. */
  readonly depth: number;
  readonly ctes: readonly Cte[];
  /** The scope of aggregates' arguments, where aggregates are allowed. */
  readonly aggregated?: Scope;
  /** Set where window functions are allowed: the key of the rows that they see. */
  readonly windowed?: Windowed;
}

export interface Windowed {
  /** The key of the query's rows; undefined if there is none. */
  readonly key: readonly Tree[] | undefined;
  /** The names in the WINDOW clause. */
  readonly names: readonly string[];
}

/** A WITH query in scope. */
export interface Cte {
  readonly name: string;
  readonly columns: readonly Output[];
  readonly key: readonly number[] | undefined;
}

/** A column of a query's result. */
export interface Output {
  readonly name: string;
  readonly type: SqlType;
  readonly isNotNull: boolean;
  /** Only the outer join around it makes it null. */
  readonly isNullByJoin?: boolean;
  /** The tag of everything that is removed together with it. */
  readonly tag?: string;
}

export interface Query {
  readonly tree: Tree;
  readonly columns: readonly Output[];
  /** The indexes of its key columns; undefined if none are known. */
  readonly key: readonly number[] | undefined;
}

export interface Want {
  /** The types of the columns; undefined allows any. */
  readonly types?: readonly SqlType[];
  /** Columns of the result, after those of the types, must be a key of its rows. */
  readonly isKeyed: boolean;
  /** It has one row at most. */
  readonly isSingle?: true;
  /** The order of its rows must be deterministic. */
  readonly isSorted?: true;
  /** Only the existence of rows matters. */
  readonly isExists?: true;
  /** The query of the view itself: its columns have different names, and no key column is null. */
  readonly isTop?: true;
}

export interface Grammar {
  expression(site: Site, type: SqlType): Tree;
  condition(site: Site): Tree;
  /** A SELECT or its equivalent, without parentheses. */
  query(site: Site, want: Want): Query;
}

export function typeNamed({ schema }: World, name: string): SqlType {
  const found = schema.types.find((type) => type.name === name);
  if (!found) throw new Error(`the case has no type ${name}`);
  return found;
}

export function deeper(site: Site, scope: Scope = site.scope): Site {
  return { ...site, scope, depth: site.depth - 1 };
}

/** A place that allows neither aggregates nor window functions. */
export function plain({ world, depth, ctes, scope: current }: Site, scope: Scope = current): Site {
  return { world, scope, depth, ctes };
}
