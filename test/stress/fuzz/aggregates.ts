/** Aggregates. Their results are deterministic unless marked otherwise. */
import { gives, instance, isAvailable } from './instance.js';
import type { Scope } from './scope.js';
import { type Signature, signature, signatures } from './signature.js';
import { isSequence, optional, type Tree, withChildren } from './tree.js';
import type { SqlType } from './types.js';
import { deeper, plain, type Site } from './world.js';

/** § marks the place of an optional FILTER. */
const sure = signatures(`
  bigint: count(*)§
  bigint: count(«any»)§
  bigint: count(distinct «=»)§
  bigint: sum(«integer»)§
  bigint: sum(distinct «integer»)§
  bigint: rank(1) within group (order by «integer»)
  integer: count(*)§::integer
  integer: max(length(«text»))§
  integer: bit_and(«integer»)§
  integer: bit_or(«integer»)§
  numeric: sum(«bigint»)§
  numeric: sum(«numeric»)§
  numeric: avg(«integer»)§
  numeric: avg(«numeric»)§
  numeric: stddev(«integer»)§
  boolean: bool_and(«boolean»)§
  boolean: bool_or(«boolean»)§
  boolean: every(«boolean»)§
  boolean: count(*)§ > 1
  ==: min(«==»)§
  ==: max(«==»)§
  ==: percentile_disc(0.5) within group (order by «==»)§
  ==: mode() within group (order by «==» desc)§
  text: string_agg(«text», ',' order by «#1»)§
  text: string_agg(distinct «text», ',' order by «#1»)§
  text: string_agg(«text», '' order by «#1» desc nulls last)§
  text[]: array_agg(«text» order by «#1»)§
  text[]: array_agg(distinct «text»)§
  integer[]: array_agg(«integer» order by «#1» desc)§
  integer[]: array_agg(distinct «integer»)§
  double precision: percentile_cont(0.5) within group (order by «integer»)§
  jsonb: jsonb_agg(«integer» order by «#1»)§
  jsonb: jsonb_object_agg(coalesce(«text», ''), 1)§
  json: json_agg(«text» order by «#1»)§
  json: json_agg(distinct «text»)§
  16| jsonb: json_arrayagg(«integer» order by «#1» returning jsonb)§
  interval: sum(«interval»)§
  int4multirange: range_agg(«int4range»)§
`);

const byChance: readonly Signature[] = [
  ...[
    'double precision: sum(«double precision»)§',
    'double precision: avg(«double precision»)§',
    'real: sum(«real»)§',
    'double precision: var_pop(«double precision»)§',
  ].map((line) => signature(line, { chance: 'a sum of floating-point numbers, whose order is left to chance' })),
  ...[
    '<: min(«<»)§',
    '<: max(«<»)§',
    'numeric: sum(distinct «numeric»)§',
    'numeric[]: array_agg(distinct «numeric»)§',
  ].map((line) => signature(line, { chance: 'one of several values that are equal' })),
  ...[
    'text: string_agg(«text», $$,$$)§',
    'integer[]: array_agg(«integer»)§',
    'integer: cardinality(array_agg(«any»)§)',
    'jsonb: jsonb_agg(«text»)§',
    'json: json_agg(«any»)§',
    'text: string_agg(«text», $$,$$ order by «integer»)§',
  ].map((line) => signature(line, { chance: 'an aggregate without an order' })),
  ...[
    'jsonb: jsonb_object_agg(coalesce(«text», $$$$), «any»)§',
    'json: json_object_agg(coalesce(«text», $$$$), «integer»)§',
  ].map((line) => signature(line, { chance: 'an object of equal keys' })),
  signature('16| any: any_value(«any»)§', { chance: 'any_value' }),
];

/** An aggregate over the rows of the query, where one is allowed. */
export function aggregate(site: Site, type: SqlType): Tree | undefined {
  if (!site.aggregated) return undefined;
  const { choices } = site.world;
  const from = choices.percent(12) ? byChance : sure;
  const usable = from.filter((one) => isAvailable(site.world, one) && gives(one, type));
  return usable.length === 0 ? undefined : aggregateOf(site, site.aggregated, choices.pick(usable), type);
}

/** Its arguments are expressions over the scope. */
function aggregateOf(site: Site, scope: Scope, one: Signature, type: SqlType): Tree {
  site.world.aggregated.add(scope);
  return withFilter(plain(deeper(site), scope), instance(plain(deeper(site), scope), one, type));
}

/** Replaces the mark with a FILTER or with nothing. */
export function withFilter(site: Site, tree: Tree): Tree {
  const { choices, grammar } = site.world;
  if (isSequence(tree) && tree.kind === undefined)
    return withChildren(
      tree,
      tree.parts.map((child) => withFilter(site, child)),
    );
  if (typeof tree !== 'string' || !tree.includes('§')) return tree;
  const [before, after] = tree.split('§') as [string, string];
  const filter = choices.percent(20) ? [optional(' filter (where ', grammar.condition(site), ')')] : [];
  return { parts: [before, ...filter, after] };
}
