/** WITH. */
import { anyType } from './instance.js';
import { anyName, quoted } from './names.js';
import { outputNames } from './outputs.js';
import { list, marked, optional, seq, type Tree } from './tree.js';
import { type Cte, deeper, plain, type Query, type Site, typeNamed, type Want } from './world.js';

const reserved = { kind: 'illegal', reason: 'a WITH query with a name that is reserved' } as const;

/** A query below WITH queries, which can have the names of tables. */
export function withQueries(site: Site, want: Want): Query {
  const { choices, grammar } = site.world;
  const isRecursive = choices.percent(35);
  const made: Cte[] = [];
  const trees: Tree[] = [];
  for (
    let i = 0,
      count = choices.weighted([
        [75, 1],
        [25, 2],
      ]);
    i < count;
    i++
  ) {
    const name = freshName(site, made);
    const inner = { ...plain(deeper(site)), ctes: [...site.ctes, ...made] };
    const one = isRecursive && choices.percent(60) ? recursive(inner, name) : simple(inner, name);
    made.push(one.cte);
    trees.push(name.startsWith('tidemark_') ? marked(reserved, one.tree) : one.tree);
  }
  const body = grammar.query({ ...deeper(site), ctes: [...site.ctes, ...made] }, want);
  return {
    ...body,
    tree: seq(list(trees, { before: isRecursive ? 'with recursive ' : 'with ', after: ' ' }), body.tree),
  };
}

function freshName({ world: { choices, schema } }: Site, made: readonly Cte[]): string {
  for (;;) {
    const name = choices.percent(35) ? choices.pick(schema.tables).name : anyName(choices);
    if (!made.some((other) => other.name === name)) return name;
  }
}

interface Made {
  readonly cte: Cte;
  readonly tree: Tree;
}

function simple(site: Site, name: string): Made {
  const { world } = site;
  const { choices, grammar } = world;
  const query = grammar.query(site, { isKeyed: choices.percent(75) });
  const names = choices.percent(25) ? outputNames(world, query.columns.length) : undefined;
  const columns = query.columns.map((column, i) => ({ ...column, name: names?.[i] ?? column.name }));
  const aliases = names ? ` (${names.map((one) => quoted(choices, one)).join(', ')})` : '';
  const how = choices.pick(['', '', '', 'materialized ', 'not materialized ']);
  const tree = seq(`${quoted(choices, name)}${aliases} as ${how}(`, query.tree, ')');
  return { cte: { name, columns, key: query.key }, tree };
}

/** Counts up from some rows, and can read tables on the way. */
function recursive(site: Site, name: string): Made {
  const { world } = site;
  const { choices, grammar } = world;
  const integer = typeNamed(world, 'integer');
  let type = anyType(site, '=');
  for (let tries = 0; !type.isExact && tries < 10; tries++) type = anyType(site, '=');
  if (!type.isExact) type = integer;
  const [n, value] = outputNames(world, 2).map((one) => quoted(choices, one)) as [string, string];
  const self = quoted(choices, name);
  const start = grammar.query(site, { types: [integer, type], isKeyed: false });
  const step = grammar.expression({ ...site, depth: 1 }, type);
  const isSet = choices.percent(60);
  const exit = choices.percent(70) ? `r.${n} < 4` : `r.${n} between 0 and 3`;
  const table = choices.percent(40)
    ? choices.pick(world.schema.tables.filter(({ obstacle }) => obstacle === undefined).concat(world.schema.tables[0]!))
    : undefined;
  const also =
    table && table.obstacle === undefined
      ? optional(` and exists (select 1 from ${quoted(choices, table.schema)}.${quoted(choices, table.name)})`)
      : '';
  const search = choices.percent(12)
    ? ` ${choices.pick([`search depth first by ${n} set ord`, `search breadth first by ${n} set ord`, `cycle ${n} set is_cycle using path`])}`
    : '';
  const tree = seq(
    `${self} (${n}, ${value}) as (`,
    seq('select * from (', start.tree, ') as s'),
    ` union ${isSet ? '' : 'all '}select r.${n} + 1, `,
    step,
    ` from ${self} as r where ${exit}`,
    also,
    `)${search}`,
  );
  const columns = [
    { name: unquoted(n), type: integer, isNotNull: false },
    { name: unquoted(value), type, isNotNull: false },
  ];
  return { cte: { name, columns, key: isSet && search === '' ? [0, 1] : undefined }, tree };
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}
