/** Asks whose views have changed: of many users at once, without reading their views. */
import type { Database } from '../db/database.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { CompiledView } from '../view/compile.js';
import type { TableChanges } from './patch-sql.js';
import { focusedRows, sidesOf } from './sides.js';
import { everQueries, stateQueries, states } from './states.js';
import { tailTimeoutMs } from './tail.js';

/** One view, and the parameters of those who see it. */
export interface Question {
  readonly view: CompiledView;
  /** The parameters of each, as SQL literals. */
  readonly seats: readonly (readonly string[])[];
  /**
   * `net`: whose rows are others now than at the snapshot. That is all there is to know where one transaction made the changes.
   * `ever`: who sees, or saw in the meantime, a row that was touched. For incremental views.
   */
  readonly mode: 'net' | 'ever';
}

/** A seat of a question, each by its place in its list. */
export interface AffectedSeat {
  readonly question: number;
  readonly seat: number;
}

/** Finds the seats whose view the changes since the snapshot may have altered. One statement. */
export async function findAffected(
  db: Database,
  questions: readonly Question[],
  changes: readonly TableChanges[],
  base: Snapshot,
): Promise<AffectedSeat[]> {
  return db.query<AffectedSeat>({ text: affectedSql(questions, changes, base), timeoutMs: tailTimeoutMs });
}

function affectedSql(questions: readonly Question[], changes: readonly TableChanges[], base: Snapshot): string {
  const ids = new Map(changes.map(({ table }) => [table.oid, table.id]));
  const parts = questions.map((question, i) => partOf(question, i, ids));
  const queries = [
    ...changes.flatMap(({ table, rows }) => [...stateQueries(table, base, rows), ...everQueries(table, base, rows)]),
    ...parts.flatMap((part) => part.queries),
  ];
  return `with ${queries.join(',\n')}\n${parts.map((part) => part.select).join('\nunion all\n')}`;
}

interface Part {
  readonly queries: readonly string[];
  readonly select: string;
}

/** A question in SQL: its seats are rows `l` with a column for each parameter, which the view's query reads in place of it. */
function partOf({ view, seats, mode }: Question, index: number, ids: ReadonlyMap<number, number>): Part {
  const all = `tidemark_seats_${index}`;
  const near = `tidemark_near_${index}`;
  const columns = ['seat', ...view.parameterTypes.map((_, i) => `p${i + 1}`)];
  const values = view.parameterTypes.map((_, i) => `tidemark_l.p${i + 1}`);
  const rows = seats.map((literals, seat) => `(${[seat, ...literals].join(', ')})`);
  // Who sees no touched row, whichever of their states the other tables were in, need not be looked at more closely.
  const touched = () => focusedRows(view, values, ids, states.touched, states.ever);
  const isNear = view.strategy === 'compare' ? 'true' : `exists (\n${touched()}\n)`;
  const queries = [
    `${all} (${columns.join(', ')}) as materialized (values ${rows.join(',\n')})`,
    `${near} as materialized (select * from ${all} tidemark_l where ${isNear})`,
  ];
  const select = `select ${index} as question, seat from`;
  if (mode === 'ever') return { queries, select: `${select} ${near}` };
  const sides = sidesOf(view, values, ids)!;
  const before = `tidemark_before_${index}`;
  const after = `tidemark_after_${index}`;
  const side = (name: string, query: string) =>
    `${name} as materialized (select tidemark_l.seat, r.* from ${near} tidemark_l cross join lateral (\n${query}\n) r)`;
  const unlike = (one: string, other: string, same: string, elsewhere: string) =>
    `select seat from ${one} b join ${near} tidemark_l using (seat)
    where not exists (select from ${other} o where o.seat = b.seat and o.key = b.key${same}) and not ${elsewhere}`;
  return {
    queries: [...queries, side(before, sides.before), side(after, sides.after)],
    select: `${select} (
    ${unlike(after, before, ' and o.value = b.value', sides.wasThere)}
    union
    ${unlike(before, after, '', sides.isThere)}
  ) affected`,
  };
}
