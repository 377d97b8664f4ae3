/** From a view's query to what is known of it: its tables, its strategy, and whether it can be served at all. */
import { type FunctionFacts, findFunctions, findTable, findUnstableOperators, type Table } from '../db/catalog.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { identifier } from '../sql.js';
import { type FunctionUse, inspect, type Occurrence } from './inspect.js';
import { type Choice, chooseStrategy } from './strategy.js';
import { parserLoaded, parseSelect, type Tree } from './syntax.js';

export interface Analysis extends Choice {
  readonly select: Tree;
  readonly occurrences: readonly Occurrence[];
  /** The table of each occurrence. */
  readonly tables: readonly Table[];
}

/**
 * Analyzes a query against the database's catalogs.
 * @throws SetupError when a view cannot be right with this query; the message says why and what to do.
 */
export async function analyze(db: Database, text: string): Promise<Analysis> {
  await parserLoaded;
  const select = parseSelect(text);
  const { occurrences, functions, operators } = inspect(select);
  const facts = await findFunctions(db, [...new Set(functions.map((use) => use.name))]);
  checkFunctions(functions, facts);
  const unstable = await findUnstableOperators(db, operators);
  if (unstable.length > 0) {
    throw new SetupError(
      `it uses the operator ${unstable[0]}, whose function is not declared IMMUTABLE. Declare it so if it is`,
    );
  }
  const tables: Table[] = [];
  for (const occurrence of occurrences) tables.push(await followable(db, occurrence));
  const aggregates = facts.filter((fact) => fact.kinds.some((kind) => kind === 'a' || kind === 'w'));
  const choice = chooseStrategy(select, new Set(aggregates.map((fact) => fact.name)));
  return { ...choice, select, occurrences, tables };
}

/** Built-in functions that Postgres calls stable for the session's settings alone: they read no clock and no table. */
const settledFunctions = new Set(
  `array_to_json array_to_string concat concat_ws convert convert_from convert_to date date_part date_trunc enum_first
  enum_last enum_range extract format generate_series json_agg json_build_array json_build_object json_object_agg
  json_populate_record json_populate_recordset json_to_record json_to_recordset json_to_tsvector jsonb_agg
  jsonb_build_array jsonb_build_object jsonb_object_agg jsonb_populate_record jsonb_populate_recordset jsonb_to_record
  jsonb_to_recordset jsonb_to_tsvector length make_timestamptz money numeric overlaps phraseto_tsquery plainto_tsquery
  quote_literal quote_nullable row_to_json time timestamp timestamptz timetz timezone to_char to_date to_json to_jsonb
  to_number to_timestamp to_tsquery to_tsvector websearch_to_tsquery`.split(/\s+/),
);

function checkFunctions(uses: readonly FunctionUse[], facts: readonly FunctionFacts[]): void {
  for (const use of uses) {
    const fact = facts.find((candidate) => candidate.name === use.name);
    if (!fact || fact.volatilities.every((volatility) => volatility === 'i')) continue;
    if (fact.builtin && (settledFunctions.has(use.name) || (use.name === 'age' && use.argumentCount === 2))) continue;
    throw new SetupError(
      fact.builtin
        ? `it uses ${use.name}(), whose result changes without a write. Pass such a value as a parameter, or keep it in a table`
        : `it uses the function ${use.name}(), which is not declared IMMUTABLE and so may read tables that are not followed. Write its query into the view, or declare it IMMUTABLE if it depends on its arguments alone`,
    );
  }
}

async function followable(db: Database, occurrence: Occurrence): Promise<Table> {
  const { schema, name } = occurrence;
  const label = schema === undefined ? name : `${schema}.${name}`;
  const table = await findTable(db, schema === undefined ? identifier(name) : identifier(schema, name));
  if (!table) throw new SetupError(`there is no table ${label}. Create it, or correct its name`);
  const obstacle = obstacleTo(table);
  if (obstacle) throw new SetupError(`it reads ${label}, ${obstacle}`);
  return table;
}

function obstacleTo(table: Table): string | undefined {
  if (table.kind === 'v')
    return 'which is an SQL view. Write its query into the client view: changes are followed on tables';
  if (table.kind !== 'r' && table.kind !== 'p') {
    return 'which is no ordinary table: a materialized view, foreign table or catalog cannot be followed. Read the tables behind it';
  }
  if (table.schema === 'pg_catalog' || table.schema === 'information_schema') {
    return 'which is a system catalog: its changes cannot be followed. Keep what the view needs in a table';
  }
  if (table.persistence === 'u')
    return 'which is UNLOGGED: a crash empties it without a trace. ALTER TABLE … SET LOGGED';
  if (table.persistence === 't')
    return 'which is a temporary table that other connections do not see. Use a permanent one';
  if (table.isPartition) return 'which is a partition. Read its parent table';
  if (table.isInheritanceChild)
    return 'which inherits from another table: what is written to it by way of that one is not captured. ALTER TABLE … NO INHERIT, or use partitions';
  if (table.hasInheritanceChildren)
    return 'which has INHERITS children, whose changes cannot be told apart. Use partitions';
  const unlogged = table.members.find(({ kind, persistence }) => kind !== 'p' && persistence === 'u');
  if (unlogged)
    return `whose partition ${unlogged.name} is UNLOGGED: a crash empties it without a trace. ALTER TABLE … SET LOGGED`;
  if (table.primaryKey.length === 0) return 'which has no primary key. Add one: ALTER TABLE … ADD PRIMARY KEY (…)';
  if (table.rowSecurity) {
    return 'which has row-level security for the connected role: the change log would not obey it. Connect as the owner or a role with BYPASSRLS, and say in the view who sees what';
  }
  return undefined;
}
