/** ORDER BY and LIMIT. */
import { anyType } from './instance.js';
import { list, marked, optional, seq, type Tree } from './tree.js';
import { direction } from './windows.js';
import type { Site, Want } from './world.js';

export interface Ordering {
  /** The place for expressions to sort by; undefined if only columns of the result can be named. */
  readonly site?: Site;
  /** Other sort keys: positions and names of the result's columns. */
  readonly outputs: readonly Tree[];
  /** The columns that make an order total; undefined if there are none. */
  readonly total: readonly Tree[] | undefined;
  /** The leading sort keys that DISTINCT ON requires. */
  readonly first?: readonly Tree[];
  /**
   * The view's key, which the library appends to the outermost order; undefined if it ends the order otherwise, as over
   * rows of set-returning functions.
   */
  readonly key: readonly Tree[] | undefined;
}

/** The order that is needed for a deterministic result. */
export function limitClause(site: Site, want: Want, ordering: Ordering): Tree {
  const { choices } = site.world;
  const { first = [], total } = ordering;
  const isLimited = want.isSingle === true || choices.percent(want.isTop ? 12 : 8);
  const isOrdered = isLimited || want.isSorted === true || first.length > 0 || choices.percent(12);
  if (!isOrdered) return '';
  if (want.isSingle) return total?.length === 0 ? '' : seq(orderBy(first, total), ' limit 1');
  if (!isLimited) return plainOrder(site, want, ordering);
  const limit = limitOf(site, want);
  const isFree = want.isExists === true && !limit.isOffset;
  const some = [...first, ...by(site, ordering, limit.hasTies ? 1 : 0)];
  // DISTINCT ON leaves no ties.
  if ((limit.hasTies && first.length === 0) || isFree) return seq(orderBy(some), limit.tree);
  if (want.isTop && first.length === 0) {
    const order = orderBy(some.length > 0 ? some : ordering.outputs.slice(0, 1), []);
    if (ordering.key) return seq(order, tieBreak(ordering.key), limit.tree);
    return marked({ kind: 'chance', reason: 'LIMIT over rows that functions make' }, seq(order, limit.tree));
  }
  const isSure = total !== undefined && !choices.percent(8);
  const whole = seq(orderBy(some, isSure ? total : []), limit.tree);
  return isSure ? whole : marked({ kind: 'chance', reason: 'LIMIT without a total order' }, whole);
}

/** An order that matters where rows become an array, or where the first row of each group is taken. */
function plainOrder(site: Site, want: Want, ordering: Ordering): Tree {
  const { choices } = site.world;
  const { first = [], total } = ordering;
  const matters = want.isSorted === true || first.length > 0;
  const some = [...first, ...by(site, ordering, 0)];
  if (!matters) return optional(orderBy(some.length > 0 ? some : ordering.outputs.slice(0, 1)));
  const isSure = total !== undefined && !choices.percent(8);
  const whole = orderBy(some, isSure ? total : []);
  return isSure ? whole : marked({ kind: 'chance', reason: 'rows in no total order' }, whole);
}

function orderBy(some: readonly Tree[], total: readonly Tree[] = []): Tree {
  return list([...some, ...total], { before: ' order by ', min: 1 });
}

function tieBreak(key: readonly Tree[]): Tree {
  return { isExpected: true, parts: key.flatMap((column) => [', ', column]) };
}

function by(site: Site, { site: inner, outputs }: Ordering, min: number): Tree[] {
  const { choices } = site.world;
  return choices.times(min, 2, () => {
    const isOutput = inner === undefined || (outputs.length > 0 && choices.percent(40));
    if (isOutput && outputs.length === 0) return '1';
    const expression = isOutput ? choices.pick(outputs) : inner.world.grammar.expression(inner, anyType(inner, '<'));
    const using = choices.percent(4) ? ' using <' : direction(site);
    return seq(expression, using);
  });
}

interface Limit {
  readonly tree: Tree;
  readonly isOffset: boolean;
  readonly hasTies: boolean;
}

function limitOf({ world }: Site, { isTop }: Want): Limit {
  const { choices, parameters } = world;
  const count = String(choices.between(isTop ? 2 : 1, 4));
  const countParameter = { parameter: parameters.length, values: [choices.between(1, 4), choices.between(1, 4)] };
  const bigint = world.schema.types.find(({ name }) => name === 'bigint')!;
  const kind = choices.weighted([
    [30, 'limit'],
    [12, 'fetch'],
    [15, 'ties'],
    [12, 'parameter'],
    [12, 'offset'],
    [10, 'both'],
    [4, 'all'],
    [5, 'expression'],
  ]);
  const offset = optional(` offset ${choices.pick(['1', '0', '1 rows'])}`);
  const isOffset = kind === 'offset' || kind === 'both';
  if (kind === 'parameter') {
    parameters.push({ type: bigint, parameter: countParameter });
    return {
      tree: seq(choices.percent(50) ? ' limit ' : ' offset 1 limit ', countParameter),
      isOffset: true,
      hasTies: false,
    };
  }
  const texts: Record<string, string> = {
    limit: ` limit ${count}`,
    fetch: choices.percent(30) ? ' fetch next row only' : ` fetch first ${count} rows only`,
    ties: ` fetch first ${count} rows with ties`,
    offset: '',
    both: ` limit ${count}`,
    all: choices.pick([' limit all', ' limit null']),
    expression: choices.pick([` limit (select ${count})`, ` limit greatest(1, ${count})`]),
  };
  return { tree: seq(texts[kind]!, ...(isOffset ? [offset] : [])), isOffset, hasTies: kind === 'ties' };
}
