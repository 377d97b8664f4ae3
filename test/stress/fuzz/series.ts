/** Set-returning functions in the select list. */
import type { KeyPart } from './keys.js';
import { seq } from './tree.js';
import { plain, type Site, typeNamed, type Want } from './world.js';

/** Sometimes adds a column of numbers that distinguishes the rows made of one row. */
export function series(site: Site, { isKeyed }: Want): KeyPart[] {
  const { choices, grammar } = site.world;
  if (!isKeyed || !choices.percent(6)) return [];
  const type = typeNamed(site.world, 'integer');
  const count = choices.percent(50)
    ? choices.pick(['2', '3'])
    : seq('least(', grammar.expression(plain(site), type), ', 3)');
  return [{ tag: `series ${site.world.names++}`, type, isNotNull: true, tree: seq('generate_series(1, ', count, ')') }];
}
