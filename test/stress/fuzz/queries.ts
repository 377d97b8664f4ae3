/** All forms of queries. */
import { withQueries } from './ctes.js';
import { condition, expression } from './expressions.js';
import { quoted } from './names.js';
import { outputNames, typesOf } from './outputs.js';
import { select } from './select.js';
import { setOperation } from './setops.js';
import { list, part, seq } from './tree.js';
import { deeper, type Grammar, plain, type Query, type Site, typeNamed, type Want } from './world.js';

export const grammar: Grammar = { expression, condition, query };

function query(site: Site, want: Want): Query {
  const { world, depth } = site;
  world.budget--;
  const isDeep = depth > 2 && world.budget > 15;
  const { choices } = world;
  const isEqual = want.types?.every((type) => type.isEqual) ?? true;
  const isFree = !want.isSingle && !want.isSorted;
  const make = choices.weighted<(site: Site, want: Want) => Query>([
    [78, select],
    [isDeep && isFree && isEqual ? 10 : 0, setOperation],
    [isDeep && !want.isSorted ? 9 : 0, withQueries],
    [isFree ? (want.isTop ? 1 : 3) : 0, values],
    [isFree && !want.types ? 2 : 0, whole],
  ]);
  const made = make(deeper(site), want);
  const { types, ...how } = want;
  const kind = `query ${JSON.stringify([types?.map(({ name }) => name), how])}`;
  const least = want.types ? `select ${want.types.map((type) => `null::${type.name}`).join(', ')}` : 'select';
  return { ...made, tree: part(kind, least, made.tree) };
}

function values(site: Site, want: Want): Query {
  const { world } = site;
  const { choices } = world;
  const types = typesOf(site, want);
  const integer = typeNamed(world, 'integer');
  const all = want.isKeyed ? [...types, integer] : types;
  const rows = choices.times(1, 3, (i) =>
    seq(
      '(',
      ...types.flatMap((type, j) => [j === 0 ? '' : ', ', expression(plain(site), type)]),
      want.isKeyed ? `, ${i}` : '',
      ')',
    ),
  );
  const isBare = choices.percent(40);
  const names = isBare ? all.map((_, i) => `column${i + 1}`) : outputNames(world, all.length);
  const columns = all.map((type, i) => ({ name: names[i]!, type, isNotNull: type === integer && i === types.length }));
  const aliases = names.map((name) => quoted(choices, name)).join(', ');
  const key = want.isKeyed ? [types.length] : undefined;
  if (isBare) return { tree: seq('values ', list(rows, { min: 1 })), columns, key };
  return { tree: seq('select * from (values ', list(rows, { min: 1 }), `) as v (${aliases})`), columns, key };
}

/** TABLE. */
function whole(site: Site, want: Want): Query {
  const { choices, schema } = site.world;
  const usable = schema.tables.filter(({ obstacle, key }) => obstacle === undefined && key.length > 0);
  if (usable.length === 0) return select(site, want);
  const { schema: of, name, columns, key } = choices.pick(usable);
  return {
    tree: `table ${quoted(choices, of)}.${quoted(choices, name)}`,
    columns,
    key: key.map((column) => columns.indexOf(column)),
  };
}
