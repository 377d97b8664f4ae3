/** Functions, VALUES and other rows without a table in FROM. */
import { aliased, type FromTree, type Item } from './items.js';
import { list, marked, seq, type Tree } from './tree.js';
import type { SqlType } from './types.js';
import { type Output, type Site, typeNamed } from './world.js';

interface Made {
  readonly tree: Tree;
  readonly types: readonly SqlType[];
  readonly key: readonly number[] | undefined;
}

export function functionItem(site: Site, before: readonly Item[], isKeyed: boolean): FromTree {
  const { world } = site;
  const { choices } = world;
  const named = (name: string) => typeNamed(world, name);
  const [integer, text] = [named('integer'), named('text')];
  const a = (type: SqlType) => world.grammar.expression(site, type);
  const few = () => seq('generate_series(1, least(', a(integer), ', 3))');
  const makers: readonly (readonly [number, () => Made | undefined])[] = [
    [8, () => ({ tree: few(), types: [integer], key: [0] })],
    [5, () => ({ tree: seq(few(), ' with ordinality'), types: [integer, named('bigint')], key: [1] })],
    [8, () => array(site)],
    [
      3,
      () => ({
        tree: seq('rows from (', few(), `, unnest(array['a', null])) with ordinality`),
        types: [integer, text, named('bigint')],
        key: [2],
      }),
    ],
    [
      3,
      () => ({
        tree: seq(`regexp_split_to_table(`, a(text), `, '') with ordinality`),
        types: [text, named('bigint')],
        key: [1],
      }),
    ],
    [3, () => ({ tree: seq('lower(', a(text), ')'), types: [text], key: [] })],
    [8, () => values(site, [integer, choices.pick(world.schema.types)])],
    [3, () => ({ tree: seq('string_to_table(', a(text), `, '/')`), types: [text], key: undefined })],
    [3, () => json(site)],
    [3, () => jsonTable(site)],
  ];
  for (;;) {
    const made = choices.weighted(makers)();
    if (!made || (isKeyed && made.key === undefined)) continue;
    const columns = made.types.map((type, i): Output => ({ name: `f${i}`, type, isNotNull: false }));
    const poisoned = fromPoison(site);
    if (poisoned && !isKeyed) {
      return aliased(
        site,
        { tree: poisoned, columns: [{ name: 'x', type: text, isNotNull: false }], key: undefined },
        before,
        true,
      );
    }
    return aliased(site, { tree: made.tree, columns, key: made.key }, before, true);
  }
}

function array(site: Site): Made | undefined {
  const { choices, schema, grammar } = site.world;
  const arrays = schema.types.filter(({ element }) => schema.types.some(({ name }) => name === element));
  if (arrays.length === 0) return undefined;
  const type = choices.pick(arrays);
  const element = typeNamed(site.world, type.element!);
  const one = grammar.expression(site, type);
  if (choices.percent(30)) {
    const two = seq('unnest(', one, ', ', grammar.expression(site, type), ') with ordinality');
    return { tree: two, types: [element, element, typeNamed(site.world, 'bigint')], key: [2] };
  }
  return {
    tree: seq('unnest(', one, ') with ordinality'),
    types: [element, typeNamed(site.world, 'bigint')],
    key: [1],
  };
}

/** Rows whose first column is a unique number. */
function values(site: Site, [integer, type]: readonly [SqlType, SqlType]): Made {
  const { choices, grammar } = site.world;
  const rows = choices.times(1, 3, (i) => seq('(', String(i + 1), ', ', grammar.expression(site, type), ')'));
  return { tree: seq('(values ', list(rows, { min: 1 }), ')'), types: [integer, type], key: [0] };
}

function json(site: Site): Made | undefined {
  const jsonb = site.world.schema.types.find(({ name }) => name === 'jsonb');
  if (!jsonb) return undefined;
  const value = site.world.grammar.expression(site, jsonb);
  const elements = seq(
    'jsonb_array_elements(case jsonb_typeof(',
    value,
    `) when 'array' then `,
    value,
    ` else '[]' end) with ordinality`,
  );
  return { tree: elements, types: [jsonb, typeNamed(site.world, 'bigint')], key: [1] };
}

function jsonTable(site: Site): Made | undefined {
  const jsonb = site.world.schema.types.find(({ name }) => name === 'jsonb');
  if (!jsonb || site.world.version < 17) return undefined;
  const value = site.world.grammar.expression(site, jsonb);
  const [integer, text] = [typeNamed(site.world, 'integer'), typeNamed(site.world, 'text')];
  const columns = `columns (id for ordinality, a text path '$.a', "B" text format json path '$' keep quotes)`;
  return { tree: seq('json_table(', value, `, '$[*]' ${columns})`), types: [integer, text, text], key: [0] };
}

/** A relation that views must not read. */
function fromPoison({ world }: Site): Tree | undefined {
  const { poison } = world;
  if (poison?.result !== 'from') return undefined;
  world.poison = undefined;
  return marked({ kind: 'illegal', reason: poison.illegal! }, poison.pieces[0]!);
}
