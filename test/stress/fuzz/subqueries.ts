/** Subqueries in expressions. */
import { anyType } from './instance.js';
import { seq, type Tree } from './tree.js';
import type { SqlType } from './types.js';
import { plain, type Site, typeNamed } from './world.js';

export function subquery(site: Site, type: SqlType): Tree | undefined {
  const { world } = site;
  if (site.depth < 1 || world.budget < 5) return undefined;
  const { choices, schema } = world;
  if (type.name === 'boolean' && choices.percent(85)) return link(plain(site));
  const element = type.element !== undefined && schema.types.find(({ name }) => name === type.element);
  if (element && choices.percent(60)) return seq('array(', ofOne(site, element), ')');
  if (type.name === 'json' && world.version >= 16 && choices.percent(60)) {
    return seq('json_array(', ofOne(site, anyType(site, '=')), ')');
  }
  return seq('(', world.grammar.query(plain(site), { types: [type], isKeyed: false, isSingle: true }).tree, ')');
}

function ofOne(site: Site, type: SqlType): Tree {
  return site.world.grammar.query(plain(site), { types: [type], isKeyed: false, isSorted: true }).tree;
}

/** EXISTS, IN, ANY, ALL. */
function link(site: Site): Tree {
  const { world } = site;
  const { choices, grammar } = world;
  if (choices.percent(45)) {
    const not = choices.percent(25) ? 'not ' : '';
    return seq(`(${not}exists (`, grammar.query(site, { isKeyed: false, isExists: true }).tree, '))');
  }
  if (choices.percent(20)) return rowLink(site);
  const type = anyType(site, '=');
  const operator = choices.weighted([
    [50, 'in'],
    [12, 'not in'],
    [12, '= any'],
    [6, '<> all'],
    [6, type.isOrdered ? '< any' : '= any'],
    [6, type.isOrdered ? '>= all' : '<> all'],
    [4, '= some'],
  ]);
  const { tree } = grammar.query(site, { types: [type], isKeyed: false });
  return seq('(', grammar.expression(site, type), ` ${operator} (`, tree, '))');
}

function rowLink(site: Site): Tree {
  const { choices, grammar } = site.world;
  const types = [anyType(site, '='), choices.percent(50) ? anyType(site, '=') : typeNamed(site.world, 'integer')];
  const row = seq(
    choices.pick(['(', 'row(']),
    grammar.expression(site, types[0]!),
    ', ',
    grammar.expression(site, types[1]!),
    ')',
  );
  const isOne = choices.percent(25);
  const { tree } = grammar.query(site, { types, isKeyed: false, ...(isOne && { isSingle: true }) });
  return seq('(', row, isOne ? ' = (' : ` ${choices.pick(['in', 'in', 'not in', '= any'])} (`, tree, '))');
}
