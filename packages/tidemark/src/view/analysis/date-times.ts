/** Finds dates and times that are given as text, where "now" and the like mean a different time at each reading. */
import type { TypePart } from '../../catalog/types.js';
import { SetupError } from '../../errors.js';
import { call, cast } from '../parse/nodes.js';
import { type Tree, visits } from '../parse/tree.js';
import { typeOf } from './expressions.js';
import { type Facts, partsOf, typesNamed } from './facts.js';
import type { Meaning } from './meaning.js';
import { isNode, numberOf, type QueryNode, queryNodes } from './query-tree.js';

const dateTimeTypes = new Set(['date', 'time', 'timetz', 'timestamp', 'timestamptz']);
const relativeWord = /(?<![a-z])(now|today|tomorrow|yesterday)(?![a-z])/i;

/** Functions that read values of any type from JSON. */
const readers = new Set(
  `json_populate_record json_populate_recordset json_to_record json_to_recordset jsonb_populate_record
  jsonb_populate_recordset jsonb_to_record jsonb_to_recordset`.split(/\s+/),
);

/** Checks whether a text, read as a date or time, means a different time whenever it is read. */
export function isRelativeDateTime(text: string): boolean {
  return relativeWord.test(text);
}

/** PARAM_EXTERN (primnodes.h), as opposed to parameters that Postgres passes to subqueries. */
const external = '0';

/** Returns the numbers of the parameters that Postgres reads as dates or times. */
export function dateTimeParameters({ query }: Meaning, facts: Facts): ReadonlySet<number> {
  const dateTimes = [...queryNodes(query)].filter(({ fields }) => {
    return fields.paramkind === external && partsOf(Number(fields.paramtype), facts).some(isDateTime);
  });
  return new Set(dateTimes.map((node) => numberOf(node, 'paramid')!));
}

/** @throws SetupError if the query reads a date or time from text that no guard can check first. */
export function checkDateTimes(select: Tree, meaning: Meaning, facts: Facts): void {
  const guarded = new Set([...guardedCasts(select, meaning, facts)].flatMap(([, conversions]) => conversions));
  for (const node of queryNodes([meaning.query, ...facts.implied])) {
    if (!guarded.has(node)) checkReader(node, facts);
  }
  checkLiterals(select, meaning, facts);
}

/** Makes the query check each text before it casts the text to a date or time. */
export function guardDateTimes(select: Tree, meaning: Meaning, facts: Facts): void {
  for (const [typeCast] of guardedCasts(select, meaning, facts)) {
    typeCast.arg = call(['tidemark', 'fixed_date_time'], cast(typeCast.arg as Tree, 'text'));
  }
}

/** Finds the casts of text to dates and times, each with its analyzed conversions. */
function guardedCasts(select: Tree, meaning: Meaning, facts: Facts): Map<Tree, QueryNode[]> {
  const casts = new Map<Tree, QueryNode[]>();
  for (const { type, node } of visits({ SelectStmt: select })) {
    if (type !== 'TypeCast') continue;
    const analyzed = meaning.nodesOf(node);
    const conversions = analyzed.filter((one) => {
      const [result, ...more] = one.tag === 'COERCEVIAIO' ? partsOf(typeOf(one), facts) : [];
      // A time zone without a date has the current offset.
      return result && more.length === 0 && isDateTime(result) && result.name !== 'timetz';
    });
    const isWhole = analyzed.every(({ tag }) => tag !== 'ARRAYCOERCEEXPR');
    if (conversions.length > 0 && isWhole) casts.set(node, conversions);
  }
  return casts;
}

function checkReader(node: QueryNode, facts: Facts): void {
  const call = isNode(node.fields.funcexpr) ? node.fields.funcexpr : node;
  const called = facts.routines.get(numberOf(call, 'funcid') ?? 0);
  const isReader = called?.builtin && readers.has(called.name);
  if (!isReader && !['COERCEVIAIO', 'TABLEFUNC', 'JSONEXPR'].includes(node.tag)) return;
  const types = node.tag === 'COERCEVIAIO' ? [typeOf(node)] : typesNamed(node);
  const dateTime = types.flatMap((type) => [...partsOf(type, facts)]).find(isDateTime);
  if (!dateTime) return;
  throw new SetupError(
    `it reads a ${dateTime.name} from text, where a word such as "now" means a different time whenever it is read. Return the text, or cast it separately: (…)::timestamptz`,
  );
}

function isDateTime({ builtin, name }: TypePart): boolean {
  return builtin && dateTimeTypes.has(name);
}

/** Refuses literals that Postgres has already read, because each new plan would contain a different date or time. */
function checkLiterals(select: Tree, meaning: Meaning, facts: Facts): void {
  for (const { node } of visits({ SelectStmt: select })) {
    const text = (node.sval as { sval?: string } | undefined)?.sval;
    if (text === undefined || !isRelativeDateTime(text)) continue;
    const dateTime = meaning
      .nodesOf(node)
      .flatMap((constant) => [...partsOf(typeOf(constant), facts)])
      .find(isDateTime);
    if (dateTime) {
      throw new SetupError(
        `it uses '${text}' as a ${dateTime.name}, which changes without a write. Pass the time as a parameter`,
      );
    }
  }
}
