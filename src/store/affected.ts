/** Asks whose views have changed: of many users at once, without reading their views. */
import type { Database } from '../db/database.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { CompiledView } from '../view/compile.js';
import type { TableChanges } from './patch-sql.js';
import { focusedRows, sidesOf } from './sides.js';
import { everQueries, stateQueries, states } from './states.js';

/** One view, and the parameters of those who see it. */
export interface Question {
  readonly view: CompiledView;
  /** The parameters of each, as SQL literals. */
  readonly seats: readonly (readonly string[])[];
  /**
   * `net`: whose rows are others now than at the snapshot. That is all there is to know where one transaction made the
   * changes. `ever`: who sees, or saw in the meantime, a row that was touched. For incremental views.
   */
  readonly mode: 'net' | 'ever';
  /** How long Postgres may take for the answer. */
  readonly timeoutMs: number;
}

/**
 * Finds the seats whose view the changes since the snapshot may have altered, by their places in the question's list.
 * @param changes all that has changed of the view's tables, as the database is when the statement runs
 */
export async function findAffected(
  db: Pick<Database, 'query'>,
  question: Question,
  changes: readonly TableChanges[],
  base: Snapshot,
): Promise<number[]> {
  const rows = await db.query<{ seat: number }>({
    text: affectedSql(question, changes, base),
    timeoutMs: question.timeoutMs,
  });
  return rows.map(({ seat }) => seat);
}

function affectedSql(question: Question, changes: readonly TableChanges[], base: Snapshot): string {
  const ids = new Map(changes.map(({ table }) => [table.oid, table.id]));
  const { queries, select } = question.view.strategy === 'compare' ? compared(question, ids) : evaluated(question, ids);
  const stateOfTables = changes.flatMap(({ table, rows }) => [
    ...stateQueries(table, base, rows),
    ...everQueries(table, base, rows),
  ]);
  return `with ${[...stateOfTables, ...queries].join(',\n')}\n${select}`;
}

interface Parts {
  readonly queries: readonly string[];
  readonly select: string;
}

type Ids = ReadonlyMap<number, number>;

/**
 * Each seat's whole view, before and after. Not with a row for each seat: an aggregate over its columns alone would be
 * over the seats.
 */
function compared({ view, seats }: Question, ids: Ids): Parts {
  const sides = seats.map((literals) => sidesOf(view, literals, ids)!);
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

/** The seats are rows `l` with a column for each parameter, which the view's query reads in place of it. */
function evaluated({ view, seats, mode }: Question, ids: Ids): Parts {
  const columns = ['tidemark_seat', ...view.parameterTypes.map((_, i) => `tidemark_p${i + 1}`)];
  const values = view.parameterTypes.map((_, i) => `tidemark_l.tidemark_p${i + 1}`);
  const rows = seats.map((literals, seat) => `(${[seat, ...literals].join(', ')})`);
  const queries = [
    `tidemark_seats (${columns.join(', ')}) as materialized (values ${rows.join(',\n')})`,
    // Who sees no touched row, whichever of their states the other tables were in, need not be looked at more closely.
    `tidemark_near as materialized (
      select * from tidemark_seats tidemark_l where exists (\n${focusedRows(view, values, ids, states.touched, states.ever)}\n)
    )`,
  ];
  if (mode === 'ever') return { queries, select: 'select tidemark_seat as seat from tidemark_near' };
  const sides = sidesOf(view, values, ids)!;
  const side = (name: string, query: string) =>
    `${name} as materialized (select tidemark_l.tidemark_seat, r.* from tidemark_near tidemark_l cross join lateral (\n${query}\n) r)`;
  // One row is enough: whether it was, or is, there all the same takes long to say.
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
