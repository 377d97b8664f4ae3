/** What the parts of the grammar know of the query that they make, and how they call each other. */
import type { Choices } from './choices.js';
import type { Schema } from './schema.js';
import type { Scope } from './scope.js';
import type { Signature } from './signature.js';
import type { Parameter, Tree } from './tree.js';
import type { SqlType } from './types.js';

/** What a query made of a view: it never holds what is left over of another one. */
export interface World {
  readonly choices: Choices;
  readonly schema: Schema;
  readonly version: number;
  readonly grammar: Grammar;
  /** What may be used, by the family of the result; of those with a variable, by the variable. */
  readonly signatures: ReadonlyMap<string, readonly Signature[]>;
  readonly parameters: { readonly type: SqlType; readonly parameter: Parameter }[];
  /** What makes the query one that must be refused, if it is to be one and has not become one yet. */
  poison: Signature | undefined;
  /** How much more may be written. */
  budget: number;
  /** What the arguments of those aggregates see that have been written: whose queries are grouped. */
  readonly aggregated: Set<Scope>;
  /** Counts names that must differ. */
  names: number;
}

/** A place in a query. */
export interface Site {
  readonly world: World;
  readonly scope: Scope;
  /** How many levels of parts may lie below. */
  readonly depth: number;
  readonly ctes: readonly Cte[];
  /** Where aggregates may stand, what their arguments see. */
  readonly aggregated?: Scope;
  /** Window functions may stand here; over what rows of the query are told apart. */
  readonly windowed?: Windowed;
}

export interface Windowed {
  /** What tells rows of the query apart; undefined where nothing does. */
  readonly key: readonly Tree[] | undefined;
  /** Names of the WINDOW clause. */
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
  /** Only the outer join around it makes nulls of it. */
  readonly isNullByJoin?: boolean;
  /** It goes with all that carries this. */
  readonly tag?: string;
}

export interface Query {
  readonly tree: Tree;
  readonly columns: readonly Output[];
  /** The columns that tell its rows apart; undefined where none are known to. */
  readonly key: readonly number[] | undefined;
}

export interface Want {
  /** The types of the columns; any where undefined. */
  readonly types?: readonly SqlType[];
  /** Its rows are to be told apart by columns of the result, which come after those of the types. */
  readonly isKeyed: boolean;
  /** It has one row at most. */
  readonly isSingle?: true;
  /** The order of its rows is to be sure. */
  readonly isSorted?: true;
  /** All that matters is whether it has rows. */
  readonly isExists?: true;
  /** Of a view itself: the names of its columns differ, and no column of its key is null. */
  readonly isTop?: true;
}

export interface Grammar {
  expression(site: Site, type: SqlType): Tree;
  condition(site: Site): Tree;
  /** A SELECT or what stands for one, without parentheses. */
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

/** A place where neither aggregates nor window functions may stand. */
export function plain({ world, depth, ctes, scope: usual }: Site, scope: Scope = usual): Site {
  return { world, scope, depth, ctes };
}
