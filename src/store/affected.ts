/** Finds, for many users at once, whose views have changed. */
import type { Database, Statement } from '../db/database.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { ViewParameters } from '../view/served-view.js';
import { isSmall } from './header.js';
import type { TableChanges } from './patches/patch-sql.js';
import { seatParameter, seatsQuery, seatsValues } from './patches/seats.js';
import { focusedRows, sidesOf } from './patches/sides.js';
import { everQueries, stateQueries, states, type UnseenSql, unseenLiterals } from './patches/states.js';

/** One view, and the parameters of each seat that sees it. */
export interface Question {
  readonly view: CompiledView;
  /** The parameters of each seat. */
  readonly seats: readonly ViewParameters[];
  /**
   * `net`: the seats whose rows differ now from those at the snapshot. This is all there is to know if one transaction
   * made the changes. `ever`: the seats that see, or saw in the meantime, a row that was touched. For incremental views
   * only.
   */
  readonly mode: 'net' | 'ever';
  /** How long Postgres may take to answer. */
  readonly timeoutMs: number;
}

/**
 * Finds the seats whose view the changes since the snapshot may have altered.
 * @param changes all changes of the view's tables, up to the moment when the statement runs
 * @returns indexes into the question's list of seats
 */
export async function findAffected(
  db: Pick<Database, 'query'>,
  question: Question,
  changes: readonly TableChanges[],
  base: Snapshot,
): Promise<number[]> {
  const { timeoutMs } = question;
  const rows = await db.query<{ seat: number }>({ ...affectedStatement(question, changes, base), timeoutMs });
  return rows.map(({ seat }) => seat);
}

function affectedStatement(question: Question, changes: readonly TableChanges[], base: Snapshot): Statement {
  const { view, seats } = question;
  const ids = new Map(changes.map(({ table }) => [table.oid, table.id]));
  if (view.strategy === 'compare')
    return { text: statementText(compared(question, ids), changes, unseenLiterals(base)) };
  const text = statementText(evaluated(question, ids), changes, { lows: '$1', highs: '$2' });
  const { lows, highs } = unseenRanges(base);
  const values = [lows, highs, ...seatsValues(seats.map(({ texts }) => texts))];
  // With few changed rows, any plan begins with these, and planning would take longer than all else.
  const isFew = isSmall(changes.map(({ table, rows }) => [table.id, rows]));
  return { text, values, name: isFew ? 'tidemark_affected' : undefined };
}

function statementText({ queries, select }: Parts, changes: readonly TableChanges[], unseen: UnseenSql): string {
  const stateOfTables = changes.flatMap(({ table, rows }) => [
    ...stateQueries(table, unseen, rows),
    ...everQueries(table, unseen, rows),
  ]);
  return `with ${[...stateOfTables, ...queries].join(',\n')}\n${select}`;
}

interface Parts {
  readonly queries: readonly string[];
  readonly select: string;
}

type Ids = ReadonlyMap<number, number>;

/**
 * Reads each seat's whole view, before and after. The seats do not become rows that the query reads: an aggregate over
 * a seat's columns alone would aggregate over the seats.
 */
function compared({ view, seats }: Question, ids: Ids): Parts {
  const sides = seats.map(({ literals }) => sidesOf(view, literals, ids)!);
  const rows = (side: 'before' | 'after') =>
    `tidemark_${side} as materialized (${sides.map((of, seat) => `select ${seat} as tidemark_seat, tidemark_key, tidemark_value from (\n${of[side]}\n) r`).join('\nunion all\n')})`;
  return {
    queries: [rows('before'), rows('after')],
    select: `select tidemark_seat as seat from tidemark_after b where not exists (${sameRow('tidemark_before', 'tidemark_value')})
    union
    select tidemark_seat from tidemark_before b where not exists (${sameRow('tidemark_after')})`,
  };
}

function sameRow(side: string, ...also: string[]): string {
  return `select from ${side} o where ${['tidemark_seat', 'tidemark_key', ...also].map((column) => `o.${column} = b.${column}`).join(' and ')}`;
}

/** The first two are the ends of the ranges of unseen transactions. */
const firstSeatParameter = 3;

/** The seats become rows `tidemark_l` with a column for each parameter, which the view's query reads in its place. */
function evaluated({ view: compiled, mode }: Question, ids: Ids): Parts {
  // Every incremental view can be read by several seats.
  const view = compiled.seated!;
  const values = view.parameterTypes.map((_, i) => seatParameter(i));
  const queries = [
    seatsQuery(view.parameterTypes, firstSeatParameter),
    // A seat that sees no touched row, whatever states the other tables were in, need not be examined further.
    `tidemark_near as materialized (
      select * from tidemark_seats tidemark_l where exists (\n${focusedRows(view, values, ids, states.touched, states.ever)}\n)
    )`,
  ];
  if (mode === 'ever') return { queries, select: 'select tidemark_seat as seat from tidemark_near' };
  const sides = sidesOf(view, values, ids)!;
  const side = (name: string, query: string) =>
    `${name} as materialized (select tidemark_l.tidemark_seat, r.* from tidemark_near tidemark_l cross join lateral (\n${query}\n) r)`;
  // One such row is enough: it takes long to tell whether a row was, or is, in the view for another reason.
  const hasUnlike = (one: string, same: string, elsewhere: string) =>
    `select tidemark_seat as seat from tidemark_near tidemark_l
    where exists (select from ${one} b where b.tidemark_seat = tidemark_l.tidemark_seat and not exists (${same}) and not ${elsewhere})`;
  return {
    queries: [...queries, side('tidemark_before', sides.before), side('tidemark_after', sides.after)],
    select: `${hasUnlike('tidemark_after', sameRow('tidemark_before', 'tidemark_value'), sides.wasThere())}
    union
    ${hasUnlike('tidemark_before', sameRow('tidemark_after'), sides.isThere)}`,
  };
}
