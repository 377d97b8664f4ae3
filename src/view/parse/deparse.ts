/** Writes parse trees back to text. */
import { Deparser } from 'pgsql-deparser';
import { identifier } from '../../sql.js';
import type { Tree } from './tree.js';

/**
 * Adds what the library leaves out or does not quote. It visits each node by the method of its name, so a node of our own can stand for
 * what Postgres's tree has no node for.
 */
class Writer extends Deparser {
  override SelectStmt(node: never, context: never): string {
    return super.SelectStmt(completed(node) as never, context);
  }

  override CommonTableExpr(node: never, context: never): string {
    const { ctename, ...rest } = node as Tree;
    return super.CommonTableExpr({ ...rest, ctename: identifier(ctename as string) } as never, context);
  }

  override A_Indirection(node: never, context: never): string {
    const { arg, ...rest } = node as { arg: Tree };
    const closed = arg.ColumnRef || arg.ParamRef ? arg : { Parenthesized: { arg } };
    return super.A_Indirection({ ...rest, arg: closed } as never, context);
  }

  Parenthesized({ arg }: { arg: never }, context: never): string {
    return `(${this.visit(arg, context)})`;
  }

  DistinctGroups({ first }: { first: never }, context: never): string {
    return `DISTINCT ${this.visit(first, context)}`;
  }

  WithTies({ count }: { count: never }, context: never): string {
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

/** Text that a SelectStmt is parsed from, as far as the library is right; see `deparseSelect`. */
export function write(select: Tree): string {
  return new Writer({ SelectStmt: select } as never, { pretty: false }).deparseQuery();
}
