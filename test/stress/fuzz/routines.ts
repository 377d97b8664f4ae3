/**
 * The application's own functions, operators, casts and aggregates. Some are immutable, some are not, and some only
 * seem to be.
 */
import { identifier, quotedText } from '../../../packages/tidemark/src/sql.js';
import type { Choices } from './choices.js';
import { type Signature, signature } from './signature.js';
import type { Table } from './tables.js';
import type { SqlType } from './types.js';

export interface Routine {
  readonly creation: string;
  readonly signatures: readonly Signature[];
  /** A function of a table's rows that can be written like a column. */
  readonly attribute?: {
    readonly table: Table;
    readonly name: string;
    readonly type: SqlType;
    readonly illegal?: string;
  };
}

interface RoutineContext {
  readonly schemas: readonly string[];
  readonly types: readonly SqlType[];
  readonly tables: readonly Table[];
}

/** @param f the function's qualified name @param table a table's qualified name */
type Create = (f: string, table: string) => Routine;

const routine = (creation: string, ...lines: readonly string[]): Routine => ({
  creation,
  signatures: lines.map((line) => signature(line)),
});

const unstable = (illegal: string, creation: string, ...lines: readonly string[]): Routine => ({
  creation,
  signatures: lines.map((line) => signature(line, { illegal })),
});

/** The body of a function that is not immutable: it reads a table that the query does not name. */
const reading = (table: string) =>
  `as ${quotedText(`select (count(*) + coalesce(max(length($1::text)), 0))::int from ${table}`)}`;

const immutable: readonly Create[] = [
  (f) =>
    routine(
      `create function ${f}(integer) returns integer language sql immutable as 'select $1 + 1'`,
      `integer: ${f}(«integer»)`,
    ),
  (f) =>
    routine(
      `create function ${f}(text, n integer default 1) returns text language plpgsql immutable as 'begin return repeat($1, n); end'`,
      `text: ${f}(«text»)`,
      `text: ${f}(«text», n => 2)`,
    ),
  (f) =>
    routine(
      `create function ${f}(variadic integer[]) returns integer language sql immutable as 'select coalesce(sum(v), 0)::integer from unnest($1) v'`,
      `integer: ${f}(«integer», «integer»)`,
      `integer: ${f}(variadic «integer[]»)`,
    ),
  (f) =>
    routine(
      `create function ${f}(integer) returns setof integer language sql immutable as 'select generate_series(1, least($1, 3))'`,
      `integer: (select max(z) from ${f}(«integer») z)`,
    ),
  (f) =>
    routine(
      `create aggregate ${f}(integer) (sfunc = int4larger, stype = integer)`,
      `integer: (select ${f}(z) from unnest(array[«integer», «integer»]) z)`,
    ),
  (f) =>
    routine(
      `create function ${f}(integer) returns integer language sql immutable as 'select -$1';
create function ${f}(text) returns integer language sql stable as 'select 1'`,
      `integer: ${f}(«integer»)`,
    ),
  (f) =>
    routine(
      `create function ${f}(integer, integer) returns boolean language sql immutable as 'select $1 % 2 = $2 % 2';
create operator ${operatorIn(f, '<~>')} (leftarg = integer, rightarg = integer, function = ${f})`,
      `boolean: «integer» operator(${operatorIn(f, '<~>')}) «integer»`,
    ),
];

const notImmutable: readonly Create[] = [
  (f, table) =>
    unstable(
      'a function that is not immutable',
      `create function ${f}(text) returns integer language sql stable ${reading(table)}`,
      `integer: ${f}(«text»)`,
    ),
  (f, table) =>
    unstable(
      'a function that is not immutable, behind an operator',
      `create function ${f}(text, integer) returns integer language sql stable ${reading(table)};
create operator ${operatorIn(f, '#+#')} (leftarg = text, rightarg = integer, function = ${f})`,
      `integer: «text» operator(${operatorIn(f, '#+#')}) «integer»`,
    ),
  (f, table) =>
    unstable(
      'a function that is not immutable, behind a cast',
      `create type ${f} as (n integer);
create function ${f}(text) returns ${f} language sql stable as ${quotedText(`select row(count(*)::int)::${f} from ${table}`)};
create cast (text as ${f}) with function ${f}(text)`,
      `text: («text»::${f})::text`,
    ),
  (f, table) =>
    unstable(
      'a function that is not immutable, behind an aggregate',
      `create function ${f}(integer, integer) returns integer language sql stable ${reading(table)};
create aggregate ${f}(integer) (sfunc = ${f}, stype = integer, initcond = '0')`,
      `integer: (select ${f}(z) from unnest(array[«integer», «integer»]) z)`,
    ),
  (f, table) =>
    unstable(
      'a function that is not immutable, behind a domain',
      `create function ${f}(text) returns integer language sql stable ${reading(table)};
create domain ${f} as text check (${f}(value) >= 0)`,
      `text: «text»::${f}`,
    ),
  (f, table) =>
    unstable(
      'a function that is not immutable, as a default',
      `create function ${f}(text) returns integer language sql stable ${reading(table)};
create function ${f}(integer, integer default ${f}('')) returns integer language sql immutable as 'select $1 + $2'`,
      `integer: ${f}(«integer»)`,
    ),
  (f, table) => unstable('an SQL view', `create view ${f} as select count(*)::text as x from ${table}`, `from: ${f}`),
  (f, table) =>
    unstable(
      'a materialized view',
      `create materialized view ${f} as select count(*)::text as x from ${table}`,
      `from: ${f}`,
    ),
  (f) => unstable('a sequence', `create sequence ${f}`, `from: (select last_value::text from ${f})`),
  (f) =>
    unstable(
      'a volatile function',
      `create function ${f}() returns integer language sql volatile as 'select (random() * 100)::integer'`,
      `integer: ${f}()`,
    ),
];

/** The same operator in the function's schema. */
function operatorIn(f: string, operator: string): string {
  return `${f.slice(0, f.lastIndexOf('."'))}.${operator}`;
}

const names = ['f', 'lower', 'now', 'random', 'Odd Name', 'percent%s', 'count'];

export function createRoutines(choices: Choices, context: RoutineContext): Routine[] {
  return [...functionRoutines(choices, context), ...attributes(choices, context)];
}

/** Only the search path finds it. */
function attributes(choices: Choices, { tables, types }: RoutineContext): Routine[] {
  if (!choices.percent(30)) return [];
  const table = choices.pick(tables);
  const isImmutable = choices.percent(50);
  const name = choices.pick(['fn', 'Fn', 'full name']);
  const relation = identifier(table.schema, table.name);
  const body = isImmutable ? 'select $1::text' : `select count(*)::text from ${relation}`;
  const type = types.find((other) => other.name === 'text')!;
  return [
    {
      creation: `create function public.${identifier(name)}(${relation}) returns text language sql ${isImmutable ? 'immutable' : 'stable'} as ${quotedText(body)}`,
      signatures: [],
      attribute: {
        table,
        name,
        type,
        ...(!isImmutable && { illegal: 'a function that is not immutable, as an attribute' }),
      },
    },
  ];
}

function functionRoutines(choices: Choices, { schemas, tables }: RoutineContext): Routine[] {
  const creations = [...choices.some(immutable, 2, 0), ...(choices.percent(55) ? choices.some(notImmutable, 3) : [])];
  const shuffled = choices.shuffled(names);
  return creations.map((create, i) => {
    // If Postgres has a function of that name, only the qualified name refers to this one.
    const name = identifier(choices.pick(schemas), `${shuffled[i % shuffled.length]!}${i < shuffled.length ? '' : i}`);
    const { schema, name: table } = choices.pick(tables);
    return create(name, identifier(schema, table));
  });
}
