/**
 * Resolves names by Postgres's rules (parse_clause.c and parse_relation.c): what each SELECT reads, and what each
 * column reference can refer to.
 */
import { isTree, names, type Tree } from './tree.js';

/** An item that a FROM clause reads, with the name that qualifies its columns. */
export interface FromItem {
  /** Undefined if there is none. A join without an alias is represented by the items that it joins. */
  readonly name: string | undefined;
  /** The RangeVar of a table; undefined for anything else. */
  readonly table: Tree | undefined;
}

/** The names that are visible at a position in the query, innermost scope first. */
export interface Scope {
  readonly fromItems: readonly FromItem[];
  /** The names of WITH queries. */
  readonly queries: ReadonlySet<string>;
  readonly outer: Scope | undefined;
}

/** A column reference, or a name that could be one, with the names visible there. */
export interface Reference {
  /** The object `{ ColumnRef: … }`, in which the node can be replaced. */
  readonly holder: Tree;
  readonly node: Tree;
  /** A star is `*`. */
  readonly names: readonly string[];
  /** True if the query selects a field of it, as in `(todo).title`. */
  readonly isRow: boolean;
  readonly scope: Scope;
}

/** One SELECT, at any depth. */
export interface Level {
  readonly select: Tree;
  /** The items of its FROM clause, without those that a join hides behind its alias. */
  readonly fromItems: readonly FromItem[];
}

/** The tables, references and SELECTs of a query. */
export interface Scopes {
  /** The RangeVars that read tables, in the order of the text. The name of a WITH query in scope is not a table. */
  readonly tables: readonly Tree[];
  readonly references: readonly Reference[];
  readonly levels: readonly Level[];
}

export function scopesOf(select: Tree): Scopes {
  const walk = new Walk();
  walk.select(select, undefined);
  return walk;
}

/** Returns the FROM item that a reference's qualifier refers to, or that a bare name refers to as a whole row. */
export function fromItemOf({ names, scope }: Reference, schemaOf: (table: Tree) => string): FromItem | undefined {
  const [qualifier, schema] = names.length === 1 ? names : names.slice(0, -1).reverse();
  for (let here: Scope | undefined = scope; here; here = here.outer) {
    const found = here.fromItems.find(
      ({ name, table }) =>
        name === qualifier && (schema === undefined || (table && !table.alias && schemaOf(table) === schema)),
    );
    if (found) return found;
  }
  return undefined;
}

const nothing: ReadonlySet<string> = new Set();

class Walk implements Scopes {
  readonly tables: Tree[] = [];
  readonly references: Reference[] = [];
  readonly levels: Level[] = [];
  readonly #rows = new Set<unknown>();

  select(select: Tree, outer: Scope | undefined): void {
    const queries = select.withClause ? this.#with(select.withClause as Tree, outer) : (outer?.queries ?? nothing);
    const around: Scope = { fromItems: [], queries, outer };
    const fromItems: FromItem[] = [];
    for (const item of (select.fromClause ?? []) as Tree[]) fromItems.push(...this.#from(item, around, fromItems));
    this.levels.push({ select, fromItems });
    const scope: Scope = { fromItems, queries, outer };
    for (const [field, value] of Object.entries(select)) {
      if (field === 'larg' || field === 'rarg') this.select(value as Tree, around);
      else if (field !== 'withClause' && field !== 'fromClause') this.#walk(value, scope);
    }
  }

  /** Each WITH query sees those before it. In WITH RECURSIVE, it sees all of them. */
  #with(clause: Tree, outer: Scope | undefined): ReadonlySet<string> {
    const ctes = (clause.ctes as { CommonTableExpr: Tree }[]).map((cte) => cte.CommonTableExpr);
    const queries = new Set(outer?.queries);
    if (clause.recursive) for (const cte of ctes) queries.add(cte.ctename as string);
    for (const cte of ctes) {
      this.#walk(cte, { fromItems: [], queries: new Set(queries), outer });
      queries.add(cte.ctename as string);
    }
    return queries;
  }

  /** @param left the FROM items before this one, which LATERAL may refer to */
  #from(item: Tree, around: Scope, left: readonly FromItem[]): FromItem[] {
    const [type, node] = Object.entries(item)[0] as [string, Tree];
    const alias = (node.alias as Tree | undefined)?.aliasname as string | undefined;
    if (type === 'RangeVar') return [this.#range(node, alias, around)];
    if (type === 'JoinExpr') return this.#join(node, alias, around, left);
    // Everything except a plain subquery is implicitly LATERAL.
    const isLateral = type !== 'RangeSubselect' || node.lateral === true;
    this.#walk(node, isLateral ? { ...around, fromItems: [...left] } : around);
    return [{ name: alias ?? functionName(node), table: undefined }];
  }

  #range(range: Tree, alias: string | undefined, { queries }: Scope): FromItem {
    const name = alias ?? (range.relname as string);
    if (range.schemaname === undefined && queries.has(range.relname as string)) return { name, table: undefined };
    this.tables.push(range);
    return { name, table: range };
  }

  #join(join: Tree, alias: string | undefined, around: Scope, left: readonly FromItem[]): FromItem[] {
    const larg = this.#from(join.larg as Tree, around, left);
    const rarg = this.#from(join.rarg as Tree, around, [...left, ...larg]);
    const both = [...larg, ...rarg];
    this.#walk(join.quals, { ...around, fromItems: both });
    if (alias !== undefined) return [{ name: alias, table: undefined }];
    const merged = (join.join_using_alias as Tree | undefined)?.aliasname as string | undefined;
    return merged === undefined ? both : [...both, { name: merged, table: undefined }];
  }

  #walk(value: unknown, scope: Scope): void {
    if (!isTree(value)) return;
    for (const [key, child] of Object.entries(value)) {
      if (key === 'A_Indirection') this.#rows.add((child as Tree).arg);
      if (key === 'SelectStmt') this.select(child as Tree, scope);
      else if (key === 'ColumnRef') {
        this.references.push({
          holder: value,
          node: child as Tree,
          names: names((child as Tree).fields),
          isRow: this.#rows.has(value),
          scope,
        });
      } else this.#walk(child, scope);
    }
  }
}

/** A function in FROM without an alias has the function's name. */
function functionName(node: Tree): string | undefined {
  const [first] = (node.functions ?? []) as { List: { items: { FuncCall?: Tree }[] } }[];
  const call = first?.List.items[0]?.FuncCall;
  return call && names(call.funcname).at(-1);
}
