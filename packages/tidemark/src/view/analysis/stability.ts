/**
 * Checks that a query's result changes only with its tables: the query runs nothing that depends on a clock, on chance,
 * or on a table whose changes are not captured.
 */
import type { Routine } from '../../catalog/routines.js';
import type { TypePart } from '../../catalog/types.js';
import { SetupError } from '../../errors.js';
import { typeOf } from './expressions.js';
import { type Facts, partsOf } from './facts.js';
import type { Meaning } from './meaning.js';
import { isNode, nodeList, numberOf, type QueryNode, queryNodes } from './query-tree.js';

/**
 * Built-in functions that are stable instead of immutable only because they depend on the session's settings. They read
 * no clock and no table.
 */
const deterministicFunctions = new Set(
  `age anytextcat array_to_json array_to_string concat concat_ws convert convert_from convert_to date date_add date_part
  date_subtract date_trunc enum_first enum_last enum_range extract format generate_series in_range json_agg
  json_agg_strict json_build_array json_build_object json_object_agg json_object_agg_strict json_object_agg_unique
  json_object_agg_unique_strict json_populate_record json_populate_recordset json_to_record json_to_recordset
  json_to_tsvector jsonb_agg jsonb_agg_strict jsonb_build_array jsonb_build_object jsonb_object_agg
  jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict jsonb_path_exists_tz
  jsonb_path_match_tz jsonb_path_query_array_tz jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
  jsonb_populate_recordset jsonb_to_record jsonb_to_recordset jsonb_to_tsvector length make_timestamptz money numeric
  overlaps phraseto_tsquery plainto_tsquery quote_literal quote_nullable row_to_json textanycat time timestamp
  timestamptz timetz timezone to_char to_date to_json to_jsonb to_number to_timestamp to_tsquery to_tsvector ts_headline
  websearch_to_tsquery xml xml_is_well_formed`.split(/\s+/),
);

/** Overloads of these functions that read the clock: they count an age up to today, or use a zone's current offset. */
const clockOverloads = new Set([
  'age(timestamp with time zone)',
  'age(timestamp without time zone)',
  'age(xid)',
  'timetz(time without time zone)',
  'timezone(text,time with time zone)',
  'timezone(time with time zone)',
]);

/** @throws SetupError that names what changes without a write, and says what to do. */
export function checkStability({ query }: Meaning, facts: Facts): void {
  for (const routine of facts.routines.values()) checkRoutine(routine);
  for (const node of queryNodes([query, ...facts.implied])) {
    if (node.tag === 'COERCEVIAIO') checkConversion(node, facts);
    checkNames(node, facts);
    if (numberOf(node, 'varattno')! < 0) {
      throw new SetupError(
        'it reads a system column such as ctid, xmin or tableoid, which changes without a write to the row. Remove it',
      );
    }
  }
}

function checkRoutine({ name, signature, operator, builtin, volatilities }: Routine): void {
  if (volatilities.every((volatility) => volatility === 'i')) return;
  if (builtin) {
    if (!clockOverloads.has(signature) && (deterministicFunctions.has(name) || operator !== null)) return;
    throw new SetupError(
      `it uses ${name}(), whose result changes without a write. Pass the value as a parameter, or keep it in a table`,
    );
  }
  const what = operator === null ? `the function ${name}()` : `the operator ${operator}, and so the function ${name}()`;
  throw new SetupError(
    `it uses ${what}, which is not declared IMMUTABLE and may read tables that are not captured. Write its query into the view, or declare it IMMUTABLE if it depends only on its arguments`,
  );
}

/** Checks a conversion from text or to text. */
function checkConversion(node: QueryNode, facts: Facts): void {
  const { arg } = node.fields;
  for (const one of [node, arg].filter(isNode)) partsOf(typeOf(one), facts).forEach(checkText);
}

/** Nodes that receive values of any type, and may write them as text. A column of the result may, too. */
const readers: readonly string[] = ['FUNCEXPR', 'AGGREF', 'WINDOWFUNC', 'ROWEXPR', 'TARGETENTRY'];

/**
 * Refuses values written as names. Constants, and arguments of built-in functions such as `to_tsvector`, may be text
 * search configurations, since Postgres reads these by OID. @throws SetupError that names the type
 */
function checkNames(node: QueryNode, facts: Facts): void {
  const isConstant = node.tag === 'CONST' && node.fields.constisnull === 'false';
  if (!isConstant && !readers.includes(node.tag)) return;
  const read = isConstant ? [node] : [node.fields.expr, ...nodeList(node, 'args')].filter(isNode);
  const routine = facts.routines.get(numberOf(node, 'funcid') ?? 0);
  const takesConfiguration = routine?.builtin && routine.signature.includes('(regconfig,');
  const part = read
    .flatMap((argument) => partsOf(typeOf(argument), facts))
    .find(({ name, isOfNames }) => isOfNames && !(name === 'regconfig' && (isConstant || takesConfiguration)));
  if (!part) return;
  throw new SetupError(
    `it reads a value of the type ${part.name}, which is written as a name: a rename changes it without a write. Cast it to oid, or keep the name in a table`,
  );
}

/** Refuses conversions that look up names of functions, tables and the like, since catalogs are not captured. */
function checkText({ name, builtin, isOfNames, volatilities }: TypePart): void {
  if (isOfNames) {
    throw new SetupError(
      `it converts names to or from ${name}, and the result changes without a write. Keep the name in a table`,
    );
  }
  if (!builtin && volatilities.includes('v')) {
    throw new SetupError(
      `it converts the type ${name} to or from text with a function that is declared VOLATILE. Declare it IMMUTABLE if it depends only on its arguments`,
    );
  }
}
