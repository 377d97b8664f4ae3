/** Window functions. */
import { withFilter } from './aggregates.js';
import { anyType, callOf, gives, isAvailable } from './instance.js';
import { signatures } from './signature.js';
import { list, marked, optional, seq, type Tree } from './tree.js';
import type { SqlType } from './types.js';
import { plain, type Site, type Windowed } from './world.js';

/** Functions with equal results for all peers in the window's order. */
const ofPeers = signatures(`
  bigint: rank()
  bigint: dense_rank()
  double precision: percent_rank()
  double precision: cume_dist()
  bigint: count(*)§
  bigint: count(«any»)§
  bigint: sum(«integer»)§
  numeric: sum(«numeric»)§
  numeric: avg(«integer»)§
  boolean: bool_or(«boolean»)§
  ==: min(«==»)§
  ==: max(«==»)§
`);

/** Functions whose results depend on the order of every row. */
const ofRows = signatures(`
  bigint: row_number()
  integer: ntile(2)
  any: lag(«any»)
  any: lag(«any», 2, «any»)
  any: lead(«any»)
  any: first_value(«any»)
  any: last_value(«any»)
  any: nth_value(«any», 2)
  integer[]: array_agg(«integer»)§
  text: string_agg(«text», ',')§
`);

export function windowFunction(site: Site, type: SqlType): Tree | undefined {
  const { windowed, world } = site;
  if (!windowed) return undefined;
  const { choices } = world;
  const needsRows = choices.percent(50);
  const usable = (needsRows ? ofRows : ofPeers).filter((one) => isAvailable(world, one) && gives(one, type));
  if (usable.length === 0) return undefined;
  const inner = plain(site);
  const call = withFilter(inner, callOf(inner, choices.pick(usable), type));
  const name = windowed.names.length > 0 && choices.percent(30) ? choices.pick(windowed.names) : undefined;
  if (name !== undefined) return seq(call, ` over ${choices.percent(30) ? `(${name})` : name}`);
  return seq(call, ' over (', windowOf(inner, windowed, needsRows), ')');
}

/** A window's definition. If every row matters, its order ends with the key. */
export function windowOf(site: Site, { key }: Windowed, needsRows: boolean, mayHaveFrame = true): Tree {
  const { choices } = site.world;
  const partition = choices.percent(50) ? [orderable(site)] : [];
  const orders = choices.times(0, 2, () => seq(orderable(site), direction(site)));
  const isSure = !needsRows || (key !== undefined && !choices.percent(8));
  const last = needsRows && isSure && key ? key : [];
  const order = list([...orders, ...last], { before: ' order by ' });
  const frame =
    mayHaveFrame && choices.percent(35) ? [optional(' ', frameOf(site, needsRows, orders.length + last.length))] : [];
  const window = seq(list(partition, { before: 'partition by ' }), order, ...frame);
  return isSure ? window : marked({ kind: 'chance', reason: 'a window without a total order' }, window);
}

function orderable(site: Site): Tree {
  return site.world.grammar.expression(site, anyType(site, '<'));
}

export function direction({ world: { choices } }: Site): string {
  return `${choices.pick(['', '', ' asc', ' desc'])}${choices.pick(['', '', ' nulls first', ' nulls last'])}`;
}

function frameOf({ world: { choices } }: Site, needsRows: boolean, orders: number): string {
  const exclude = choices.pick(['', '', '', ' exclude current row', ' exclude group', ' exclude ties']);
  const start = choices.pick(['unbounded preceding', 'current row']);
  const end = choices.pick(['unbounded following', 'current row']);
  if (needsRows && choices.percent(60)) {
    return `rows between 1 preceding and ${choices.pick([end, '1 following'])}${exclude}`;
  }
  if (orders > 0 && choices.percent(30)) return `groups between 1 preceding and ${end}${exclude}`;
  return `range between ${start} and ${end}${exclude}`;
}
