/** Whether a query's result changes with its tables alone: no clock, no chance, no table that is read unseen. */
import type { Routine } from '../db/routines.js';
import type { TypePart } from '../db/types.js';
import { SetupError } from '../errors.js';
import { typeOf } from './expressions.js';
import { type Facts, typesNamed } from './facts.js';
import type { Meaning } from './meaning.js';
import { isNode, numberOf, type QueryNode, queryNodes } from './query-tree.js';
import { type Tree, visits } from './syntax.js';

/** Built-in functions that Postgres calls stable for the session's settings alone: they read no clock and no table. */
const settledFunctions = new Set(
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

/** Those of the same names that read the clock all the same: a zone's offset from UTC is today's. */
const movingOverloads = new Set([
  'age(timestamp with time zone)',
  'age(timestamp without time zone)',
  'age(xid)',
  'timetz(time without time zone)',
  'timezone(text,time with time zone)',
  'timezone(time with time zone)',
]);

/** Types whose text can be a word that means another moment each time: `now`, `today`, `tomorrow`, `yesterday`. */
const momentTypes = new Set(['date', 'time', 'timetz', 'timestamp', 'timestamptz']);
const movingWord = /(?<![a-z])(now|today|tomorrow|yesterday)(?![a-z])/i;

/** Functions that read values of any type out of JSON, as text. */
const readsText = new Set(
  `json_populate_record json_populate_recordset json_to_record json_to_recordset jsonb_populate_record
  jsonb_populate_recordset jsonb_to_record jsonb_to_recordset`.split(/\s+/),
);

/** @throws SetupError naming what changes without a write, and what to do. */
export function checkStability(select: Tree, meaning: Meaning, facts: Facts): void {
  for (const routine of facts.routines.values()) checkRoutine(routine);
  for (const node of queryNodes(meaning.query)) {
    if (node.tag === 'COERCEVIAIO') checkConversion(node, facts);
    else checkReader(node, facts);
  }
  checkLiterals(select, meaning, facts);
}

function checkRoutine({ name, signature, operator, builtin, volatilities }: Routine): void {
  if (volatilities.every((volatility) => volatility === 'i')) return;
  if (builtin) {
    if (!movingOverloads.has(signature) && (settledFunctions.has(name) || operator !== null)) return;
    throw new SetupError(
      `it uses ${name}(), whose result changes without a write. Pass such a value as a parameter, or keep it in a table`,
    );
  }
  const what = operator === null ? `the function ${name}()` : `the operator ${operator}, and so the function ${name}()`;
  throw new SetupError(
    `it uses ${what}, which is not declared IMMUTABLE and so may read tables that are not followed. Write its query into the view, or declare it IMMUTABLE if it depends on its arguments alone`,
  );
}

/** The numbers of the parameters whose value, given as text, could be such a word. */
export function momentParameters({ query }: Meaning, { partsOf }: Facts): ReadonlySet<number> {
  const moments = [...queryNodes(query)].filter(({ tag, fields }) => {
    return tag === 'PARAM' && partsOf(Number(fields.paramtype)).some(isMoment);
  });
  return new Set(moments.map((node) => numberOf(node, 'paramid')!));
}

/** Whether a text means another moment each time it is read as one. */
export function isMovingMoment(text: string): boolean {
  return movingWord.test(text);
}

/** A value that is read from text, or written as text, in passing. */
function checkConversion(node: QueryNode, { partsOf }: Facts): void {
  const { arg } = node.fields;
  const result = partsOf(typeOf(node));
  for (const part of [...result, ...(isNode(arg) ? partsOf(typeOf(arg)) : [])]) checkText(part);
  checkMoment(result);
}

/** What reads values of many types out of a text by itself. */
function checkReader(node: QueryNode, { routines, partsOf }: Facts): void {
  const called = routines.get(numberOf(functionOf(node), 'funcid') ?? 0);
  const reads = called?.builtin && readsText.has(called.name);
  if (reads || node.tag === 'TABLEFUNC' || node.tag === 'JSONEXPR') {
    checkMoment(typesNamed(node).flatMap((type) => [...partsOf(type)]));
  }
}

/** A function in FROM has the types of its columns beside it. */
function functionOf(node: QueryNode): QueryNode {
  const call = node.tag === 'RANGETBLFUNCTION' ? node.fields.funcexpr : node;
  return isNode(call) ? call : node;
}

function checkMoment(parts: readonly TypePart[]): void {
  const moment = parts.find(isMoment);
  if (!moment) return;
  throw new SetupError(
    `it reads a ${moment.name} from text, where a word such as "now" means another moment each time. Read it with to_timestamp(…) or to_date(…), which take a format, or send the text`,
  );
}

function isMoment({ builtin, name }: TypePart): boolean {
  return builtin && momentTypes.has(name);
}

/** Names of functions, tables and the like are looked up in the catalogs, which nobody follows. */
function checkText({ name, builtin, volatilities }: TypePart): void {
  if (builtin && /^reg/.test(name)) {
    throw new SetupError(
      `it turns names into ${name} or back, whose result changes without a write. Keep the name in a table`,
    );
  }
  if (!builtin && volatilities.some((volatility) => volatility !== 'i' && volatility !== 's')) {
    throw new SetupError(`it reads or writes the type ${name} as text, by a function that is not declared IMMUTABLE`);
  }
}

/** Postgres has read the literals of such types already: a plan that is made anew would hold another moment. */
function checkLiterals(select: Tree, meaning: Meaning, { partsOf }: Facts): void {
  for (const { type, node } of visits({ SelectStmt: select })) {
    const text = type === 'A_Const' ? (node.sval as { sval?: string } | undefined)?.sval : undefined;
    if (text === undefined || !movingWord.test(text)) continue;
    const constants = meaning.nodesOf(node).filter(({ tag }) => tag === 'CONST');
    const moment = constants.flatMap((constant) => [...partsOf(typeOf(constant))]).find(isMoment);
    if (moment) {
      throw new SetupError(
        `it uses '${text}' as a ${moment.name}, which changes without a write. Pass the time as a parameter`,
      );
    }
  }
}
