/** Writes parse trees back to text. */
import { Deparser } from 'pgsql-deparser';
import { identifier } from '../../sql.js';
import { jsonQuery, jsonTable, xmlTable } from './deparse-functions.js';
import { names, type Tree } from './tree.js';

/** The library's word for what surrounds a node. */
type Context = never;

/**
 * Adds what the library leaves out or does not quote. It visits each node by the method of its name, so a node of our own can stand for
 * what Postgres's tree has no node for.
 */
class Writer extends Deparser {
  override SelectStmt(node: never, context: Context): string {
    return super.SelectStmt(completed(node) as never, context);
  }

  override CommonTableExpr(node: never, context: Context): string {
    return super.CommonTableExpr(quoted(node, 'ctename'), context);
  }

  override JoinExpr(node: never, context: Context): string {
    const { alias, join_using_alias: merged, ...rest } = node as Record<string, Tree | undefined>;
    const aliases = {
      ...(alias && { alias: quoted(alias, 'aliasname') }),
      ...(merged && { join_using_alias: quoted(merged, 'aliasname') }),
    };
    return super.JoinExpr({ ...rest, ...aliases } as never, context);
  }

  override WindowDef(node: never, context: Context): string {
    return super.WindowDef(quoted(node, 'name', 'refname'), context);
  }

  override formatOverClause(over: never, context: Context): string {
    return super.formatOverClause(quoted(over, 'name', 'refname'), context);
  }

  override NamedArgExpr(node: never, context: Context): string {
    return super.NamedArgExpr(quoted(node, 'name'), context);
  }

  override SortBy(node: never, context: Context): string {
    const { useOp, ...rest } = node as Tree;
    if (!useOp) return super.SortBy(node, context);
    const sval = `OPERATOR(${quotedOperator(useOp).join('.')})`;
    return super.SortBy({ ...rest, useOp: [{ String: { sval } }] } as never, context);
  }

  override TypeName(node: never, context: Context): string {
    const text = super.TypeName(node, context);
    const name = names((node as Tree).names).join('.');
    // Their short names are other nodes: another spelling, and a length of one.
    if (name === 'pg_catalog.varbit') return text.replace(/^(pg_catalog\.)?varbit/, 'bit varying');
    if (name === 'pg_catalog.bit' && !(node as Tree).typmods)
      return text.replace(/^(pg_catalog\.)?bit/, '"pg_catalog".bit');
    return text;
  }

  override A_Expr(node: never, context: Context): string {
    const given = node as Tree;
    const parts = quotedOperator(given.name).map((sval) => ({ String: { sval } }));
    const name = parts.length > 1 ? parts : given.name;
    const lexpr = /BETWEEN/.test(given.kind as string) ? closed(given.lexpr as Tree) : given.lexpr;
    return super.A_Expr({ ...given, name, lexpr } as never, context);
  }

  override A_Indirection(node: never, context: Context): string {
    const { arg, ...rest } = node as { arg: Tree };
    const isClosed = arg.ColumnRef || arg.ParamRef;
    return super.A_Indirection({ ...rest, arg: isClosed ? arg : parenthesized(arg) } as never, context);
  }

  override NullTest(node: never, context: Context): string {
    return super.NullTest(withClosed(node, 'arg'), context);
  }

  override BooleanTest(node: never, context: Context): string {
    return super.BooleanTest(withClosed(node, 'arg'), context);
  }

  override visitBetweenRange(range: never, context: Context): string {
    const { List } = range as { List?: { items: Tree[] } };
    return super.visitBetweenRange((List ? { List: { items: List.items.map(closed) } } : range) as never, context);
  }

  JsonFuncExpr(node: never, context: Context): string {
    return jsonQuery(node, (part) => this.visit(part as never, context));
  }

  JsonTable(node: never, context: Context): string {
    return jsonTable(node, (part) => this.visit(part as never, context));
  }

  override RangeTableFunc(node: never, context: Context): string {
    return xmlTable(node, (part) => this.visit(part as never, context));
  }

  Parenthesized({ arg }: { arg: never }, context: Context): string {
    return `(${this.visit(arg, context)})`;
  }

  DistinctGroups({ first }: { first: never }, context: Context): string {
    return `DISTINCT ${this.visit(first, context)}`;
  }

  WithTies({ count }: { count: never }, context: Context): string {
    return `FETCH FIRST (${this.visit(count, context)}) ROWS WITH TIES`;
  }
}

function completed(select: Tree): Tree {
  const { groupDistinct, groupClause, limitOption, limitCount, ...rest } = select;
  const [first, ...others] = (groupClause ?? []) as Tree[];
  return {
    ...rest,
    ...(first && { groupClause: groupDistinct ? [{ DistinctGroups: { first } }, ...others] : [first, ...others] }),
    // The place of a locking clause is behind OFFSET, as WITH TIES needs it; no view has one.
    ...(limitOption === 'LIMIT_OPTION_WITH_TIES'
      ? { lockingClause: [{ WithTies: { count: limitCount } }] }
      : { limitOption, limitCount }),
  };
}

/** With names that the library writes as they are. */
function quoted(node: Tree, ...fields: readonly string[]): never {
  const found = fields.filter((field) => typeof node[field] === 'string');
  return { ...node, ...Object.fromEntries(found.map((field) => [field, identifier(node[field] as string)])) } as never;
}

/** The parts of an operator's name: its schema, if there is one, and itself. */
function quotedOperator(name: unknown): string[] {
  return names(name).map((part, i, { length }) => (i < length - 1 ? identifier(part) : part));
}

function parenthesized(arg: Tree): Tree {
  return { Parenthesized: { arg } };
}

/** What binds less than what is around it. */
function closed(arg: Tree): Tree {
  return arg.BoolExpr || arg.A_Expr || arg.NullTest || arg.BooleanTest ? parenthesized(arg) : arg;
}

function withClosed(node: Tree, field: string): never {
  return { ...node, [field]: closed(node[field] as Tree) } as never;
}

/** Text that a SelectStmt is parsed from, as far as the library is right; see `deparseSelect`. */
export function write(select: Tree): string {
  return new Writer({ SelectStmt: select } as never, { pretty: false }).deparseQuery();
}
