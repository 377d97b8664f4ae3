/** Finds, for many users at once, whose views have changed. */
import type { Database, Statement } from '../db/database.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { ViewParameters } from '../view/served-view.js';
import { isSmall } from './header.js';
import { rowsOfSides, seatedAt } from './patches/delta.js';
import type { TableChanges } from './patches/patch-sql.js';
import { seatParameter, seatsQuery, seatsValues } from './patches/seats.js';
import { isConcerned, sidesOf } from './patches/sides.js';
import { everQueries, stateQueries, states, type UnseenSql } from './patches/states.js';

/** One view, and the parameters of each seat that sees it. */
export interface Question {
  readonly view: CompiledView;
  /** The parameters of each seat. */
  readonly seats: readonly ViewParameters[];
  /**
   * `net`: the seats whose rows differ now from those at the snapshot. This is all there is to know if one transaction
   * made the changes; only for views that several seats can read. `ever`: the seats that see, or saw in the meantime, a
   * row that was touched, or that depend on one.
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
  const { seats } = question;
  const text = statementText(evaluated(question, changes), changes, { lows: '$1', highs: '$2' });
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

function sameRow(side: string, ...also: string[]): string {
  return `select from ${side} o where ${['tidemark_seat', 'tidemark_key', ...also].map((column) => `o.${column} = b.${column}`).join(' and ')}`;
}

/** The first two are the ends of the ranges of unseen transactions. */
const firstSeatParameter = 3;

/** The seats become rows `tidemark_l` with a column for each parameter, which the view's query reads in its place. */
function evaluated({ view: compiled, mode }: Question, changes: readonly TableChanges[]): Parts {
  const tables = new Map(changes.map(({ table }) => [table.oid, table]));
  // Companion queries can always be read by several seats.
  const view = compiled.seated ?? compiled;
  const values = view.parameterTypes.map((_, i) => seatParameter(i));
  const queries = [
    seatsQuery(view.parameterTypes, firstSeatParameter),
    // A seat that sees no touched row, whatever states the other tables were in, need not be examined further.
    `tidemark_near as materialized (
      select * from tidemark_seats tidemark_l where ${isConcerned(view, values, tables, states.touched, states.ever)}
    )`,
  ];
  if (mode === 'ever') return { queries, select: 'select tidemark_seat as seat from tidemark_near' };
  const sides = sidesOf(view, values, tables)!;
  const { affected, rows } = rowsOfSides(sides, 'tidemark_affected', seatedAt('tidemark_near'));
  // One such row is enough: it takes long to tell whether a row was, or is, in the view for another reason.
  const hasUnlike = (one: string, same: string, elsewhere: string) =>
    `select tidemark_seat as seat from tidemark_near tidemark_l
    where exists (select from ${one} b where b.tidemark_seat = tidemark_l.tidemark_seat and not exists (${same}) and not ${elsewhere})`;
  return {
    queries: [
      ...queries,
      ...affected,
      `tidemark_before as materialized (${rows(sides.before)})`,
      `tidemark_after as materialized (${rows(sides.after)})`,
    ],
    select: `${hasUnlike('tidemark_after', sameRow('tidemark_before', 'tidemark_value'), sides.wasThere())}
    union
    ${hasUnlike('tidemark_before', sameRow('tidemark_after'), sides.isThere)}`,
  };
}
