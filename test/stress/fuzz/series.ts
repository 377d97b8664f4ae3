/** Functions in the select list that make several rows of one. */
import type { KeyPart } from './keys.js';
import { seq } from './tree.js';
import { plain, type Site, typeNamed, type Want } from './world.js';

/** Now and then a column of numbers, by which the rows that are made of one are told apart. */
export function series(site: Site, { isKeyed }: Want): KeyPart[] {
  const { choices, grammar } = site.world;
  if (!isKeyed || !choices.percent(6)) return [];
  const type = typeNamed(site.world, 'integer');
  const count = choices.percent(50)
    ? choices.pick(['2', '3'])
    : seq('least(', grammar.expression(plain(site), type), ', 3)');
  return [{ tag: `series ${site.world.names++}`, type, isNotNull: true, tree: seq('generate_series(1, ', count, ')') }];
}
