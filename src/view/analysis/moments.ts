/** Dates and times that are given as text. A word such as "now" means a different one each time it is read. */
import type { TypePart } from '../../catalog/types.js';
import { SetupError } from '../../errors.js';
import { call, cast } from '../parse/nodes.js';
import { type Tree, visits } from '../parse/tree.js';
import { typeOf } from './expressions.js';
import { type Facts, typesNamed } from './facts.js';
import type { Meaning } from './meaning.js';
import { isNode, numberOf, type QueryNode, queryNodes } from './query-tree.js';

const momentTypes = new Set(['date', 'time', 'timetz', 'timestamp', 'timestamptz']);
const movingWord = /(?<![a-z])(now|today|tomorrow|yesterday)(?![a-z])/i;

/** Functions that read values of any type out of JSON. */
const readers = new Set(
  `json_populate_record json_populate_recordset json_to_record json_to_recordset jsonb_populate_record
  jsonb_populate_recordset jsonb_to_record jsonb_to_recordset`.split(/\s+/),
);

/** Whether a text, read as a date or time, means a different one each time. */
export function isMovingMoment(text: string): boolean {
  return movingWord.test(text);
}

/** PARAM_EXTERN (primnodes.h): not a parameter that Postgres passes to a subquery. */
const external = '0';

/** The numbers of the parameters that are read as dates or times. */
export function momentParameters({ query }: Meaning, { partsOf }: Facts): ReadonlySet<number> {
  const moments = [...queryNodes(query)].filter(({ fields }) => {
    return fields.paramkind === external && partsOf(Number(fields.paramtype)).some(isMoment);
  });
  return new Set(moments.map((node) => numberOf(node, 'paramid')!));
}

/** @throws SetupError if a date or time is read from text that nothing can check first. */
export function checkMoments(select: Tree, meaning: Meaning, facts: Facts): void {
  const guarded = new Set([...guardedCasts(select, meaning, facts)].flatMap(([, conversions]) => conversions));
  for (const node of queryNodes([meaning.query, ...facts.implied])) {
    if (!guarded.has(node)) checkReader(node, facts);
  }
  checkLiterals(select, meaning, facts);
}

/** Makes the query check text before it casts it to a date or time. */
export function guardMoments(select: Tree, meaning: Meaning, facts: Facts): void {
  for (const [typeCast] of guardedCasts(select, meaning, facts)) {
    typeCast.arg = call(['tidemark', 'fixed_moment'], cast(typeCast.arg as Tree, 'text'));
  }
}

/** The casts of text to dates and times, each with its analyzed conversions. */
function guardedCasts(select: Tree, meaning: Meaning, { partsOf }: Facts): Map<Tree, QueryNode[]> {
  const found = new Map<Tree, QueryNode[]>();
  for (const { type, node } of visits({ SelectStmt: select })) {
    if (type !== 'TypeCast') continue;
    const analyzed = meaning.nodesOf(node);
    const conversions = analyzed.filter((one) => {
      const [result, ...more] = one.tag === 'COERCEVIAIO' ? partsOf(typeOf(one)) : [];
      // Without a date, a time zone has today's offset.
      return result && more.length === 0 && isMoment(result) && result.name !== 'timetz';
    });
    const isWhole = analyzed.every(({ tag }) => tag !== 'ARRAYCOERCEEXPR');
    if (conversions.length > 0 && isWhole) found.set(node, conversions);
  }
  return found;
}

function checkReader(node: QueryNode, { routines, partsOf }: Facts): void {
  const call = isNode(node.fields.funcexpr) ? node.fields.funcexpr : node;
  const called = routines.get(numberOf(call, 'funcid') ?? 0);
  const isReader = called?.builtin && readers.has(called.name);
  if (!isReader && !['COERCEVIAIO', 'TABLEFUNC', 'JSONEXPR'].includes(node.tag)) return;
  const types = node.tag === 'COERCEVIAIO' ? [typeOf(node)] : typesNamed(node);
  const moment = types.flatMap((type) => [...partsOf(type)]).find(isMoment);
  if (!moment) return;
  throw new SetupError(
    `it reads a ${moment.name} from text, where a word such as "now" means a different moment each time. Return the text, or cast it separately: (…)::timestamptz`,
  );
}

function isMoment({ builtin, name }: TypePart): boolean {
  return builtin && momentTypes.has(name);
}

/** Postgres has already read the literals of such types: a new plan would contain a different date or time. */
function checkLiterals(select: Tree, meaning: Meaning, { partsOf }: Facts): void {
  for (const { node } of visits({ SelectStmt: select })) {
    const text = (node.sval as { sval?: string } | undefined)?.sval;
    if (text === undefined || !isMovingMoment(text)) continue;
    const moment = meaning
      .nodesOf(node)
      .flatMap((constant) => [...partsOf(typeOf(constant))])
      .find(isMoment);
    if (moment) {
      throw new SetupError(
        `it uses '${text}' as a ${moment.name}, which changes without a write. Pass the time as a parameter`,
      );
    }
  }
}
