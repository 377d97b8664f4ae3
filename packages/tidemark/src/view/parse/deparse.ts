/** Writes parse trees back to text. */
import { Deparser } from 'pgsql-deparser';
import { identifier, quotedText } from '../../sql.js';
import { jsonQuery, jsonTable, xmlTable } from './deparse-functions.js';
import { names, type Tree } from './tree.js';

/** The library's type for the surroundings of a node. */
type Context = never;

/**
 * Adds what the library omits or does not quote. The library visits each node with the method of the same name, so our
 * own node types can represent syntax for which Postgres's tree has no node.
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
    const tree = node as Tree;
    if (!tree.useOp) return super.SortBy(node, context);
    const sval = `OPERATOR(${quotedOperator(tree.useOp).join('.')})`;
    return super.SortBy({ ...tree, useOp: [{ String: { sval } }] } as never, context);
  }

  override TypeName(node: never, context: Context): string {
    const tree = node as Tree;
    const parts = names(tree.names);
    if (parts.length > 1 && parts[0] !== 'pg_catalog') {
      const unqualified = super.TypeName({ ...tree, names: [{ String: { sval: placeholder } }] } as never, context);
      return unqualified.replace(placeholder, () => identifier(...parts));
    }
    // Without the schema, these would parse to other nodes: `varbit` to another spelling, and `bit` to a length of one.
    const text = super.TypeName(node, context).replace('pg_catalog.varbit', 'bit varying');
    return text.replace('pg_catalog.bit', '"pg_catalog".bit');
  }

  /** The library writes texts such as `\x00` without an E. */
  override A_Const(node: never, context: Context): string {
    const { sval } = node as { sval?: { sval?: string } };
    return sval?.sval?.includes('\\') ? quotedText(sval.sval) : super.A_Const(node, context);
  }

  override A_Expr(node: never, context: Context): string {
    const tree = node as Tree;
    const name = quotedOperator(tree.name).map((sval) => ({ String: { sval } }));
    const [lexpr, rexpr] = [tree.lexpr, tree.rexpr].map((arg) => arg && closed(arg as Tree));
    return super.A_Expr({ ...tree, name, lexpr, rexpr } as never, context);
  }

  override A_Indirection(node: never, context: Context): string {
    const { arg, ...rest } = node as { arg: Tree };
    return super.A_Indirection({ ...rest, arg: parenthesized(arg) } as never, context);
  }

  override NullTest(node: never, context: Context): string {
    return super.NullTest(withClosed(node, 'arg'), context);
  }

  override BooleanTest(node: never, context: Context): string {
    return super.BooleanTest(withClosed(node, 'arg'), context);
  }

  override FuncCall(node: never, context: Context): string {
    const { funcname, args, funcformat } = node as Tree;
    if (!args || funcformat !== 'COERCE_SQL_SYNTAX') return super.FuncCall(node, context);
    const [first, ...others] = (args as Tree[]).map(closed);
    const isLocal = names(funcname).join('.') === 'pg_catalog.timezone' && others.length === 0;
    if (isLocal) return `(${this.visit(first as never, context)} AT LOCAL)`;
    return super.FuncCall({ ...(node as Tree), args: [first, ...others] } as never, context);
  }

  override SubLink(node: never, context: Context): string {
    return super.SubLink(withClosed(node, 'testexpr'), context);
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
    // The library writes the locking clause after OFFSET, where WITH TIES must be. No view has a locking clause.
    ...(limitOption === 'LIMIT_OPTION_WITH_TIES'
      ? { lockingClause: [{ WithTies: { count: limitCount } }] }
      : { limitOption, limitCount }),
  };
}

/** Quotes names that the library writes unquoted. */
function quoted(node: Tree, ...fields: readonly string[]): never {
  const found = fields.filter((field) => typeof node[field] === 'string');
  return { ...node, ...Object.fromEntries(found.map((field) => [field, identifier(node[field] as string)])) } as never;
}

/** Returns the parts of an operator's name: its quoted schema, if there is one, and the operator. */
function quotedOperator(name: unknown): string[] {
  return names(name).map((part, i, { length }) => (i < length - 1 ? identifier(part) : part));
}

function parenthesized(arg: Tree): Tree {
  return { Parenthesized: { arg } };
}

/** Replaces the name of a type until it can be written with its schema. */
const placeholder = 'tidemark_type';

const loose = ['A_Expr', 'BooleanTest', 'BoolExpr', 'CollateClause', 'JsonIsPredicate', 'NullTest'];

/** Adds parentheses to an expression that may bind less tightly than its surroundings. */
function closed(arg: Tree): Tree {
  return loose.some((type) => type in arg) ? parenthesized(arg) : arg;
}

function withClosed(node: Tree, field: string): never {
  return (node[field] ? { ...node, [field]: closed(node[field] as Tree) } : node) as never;
}

/** Returns the text of a SelectStmt. The library can be wrong, so `deparseSelect` verifies it. */
export function write(select: Tree): string {
  return new Writer({ SelectStmt: select } as never, { pretty: false }).deparseQuery();
}
