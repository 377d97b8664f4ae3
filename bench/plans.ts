/** Shows how Postgres runs the statements behind pulls, on the database of the bench. */
import type pg from 'pg';
import { openPool } from '../packages/tidemark/src/db/pg.js';
import { parseSnapshot } from '../packages/tidemark/src/protocol/snapshot.js';
import { SchemaCache } from '../packages/tidemark/src/schema/schema-cache.js';
import { cohortSql } from '../packages/tidemark/src/store/patches/cohorts.js';
import { type ChangedTable, changedTablesOf, deltaQuery } from '../packages/tidemark/src/store/patches/patch-sql.js';
import type { SyncedTable } from '../packages/tidemark/src/store/patches/states.js';
import { manyRows } from '../packages/tidemark/src/store/polls/observation.js';
import { literalObservation, type PollInput, pollStatement } from '../packages/tidemark/src/store/polls/poll.js';
import { ClientViews, type ResolvedView } from '../packages/tidemark/src/view/client-views.js';
import type { CompiledView } from '../packages/tidemark/src/view/compile/compile.js';
import { render } from '../packages/tidemark/src/view/parse/template.js';
import { views } from './applications/todos.mjs';
import { userOf } from './database.js';
import type { Plan } from './report/run-record.js';

/** The input of the statements: a user with a cookie, and a table with a few changes since then. */
interface Situation {
  readonly input: PollInput;
  readonly tables: readonly SyncedTable[];
  readonly views: readonly ResolvedView[];
  readonly changes: readonly ChangedTable[];
}

/** The statements whose plans are shown, written by the code that writes them for pulls. */
const statements: Readonly<Record<string, (situation: Situation) => string>> = {
  'A poll, shared by all requests that wait for it': ({ input }) => pollStatement(input).text,
  'A first pull, of its larger view': ({ views }) => {
    const { view, literals } = views.at(-1)!;
    return render(view.whole, literals);
  },
  'A small change, for one user': ({ views, changes }) => cohortSql(compiled(views), changes, false),
  'A small change, for many users': ({ views, changes }) => cohortSql(compiled(views), changes, true),
  'A large change, for one user': ({ input, tables, views, changes }) =>
    deltaQuery(
      literalObservation(input, tables),
      views,
      changes.map(({ table }) => ({ table, rows: manyRows })),
      input.base!,
    ),
};

function compiled(views: readonly ResolvedView[]): CompiledView[] {
  return views.map(({ view }) => view);
}

/** @param size The number of todos that the statements' user sees. */
export async function explainAll(pool: pg.Pool, databaseURL: string, size: number): Promise<Plan[]> {
  const situation = await situationOf(databaseURL, size);
  const plans: Plan[] = [];
  for (const [name, statement] of Object.entries(statements)) {
    // The generic plan of a prepared statement, for any parameters.
    const text = `explain (generic_plan, costs off) ${statement(situation)}`;
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(text);
    plans.push({ name, lines: rows.map((row) => row['QUERY PLAN']) });
  }
  return plans;
}

async function situationOf(databaseURL: string, size: number): Promise<Situation> {
  const db = openPool(databaseURL);
  try {
    const input = { ctx: { userID: userOf(size) }, profileID: 'p', schemaVersion: '' };
    const { schema: installation, views: bound } = await new SchemaCache(db, new ClientViews(db, views)).resolve(input);
    const [row] = await db.query<{ snapshot: string }>({ text: 'select pg_current_snapshot()::text as snapshot' });
    const { tables } = installation;
    const todo = tables.find(({ name }) => name === 'todo')!;
    return {
      input: { base: parseSnapshot(row!.snapshot)!, tables: tables.map(({ id }) => id), groupIDs: ['explained'] },
      tables,
      views: bound,
      changes: changedTablesOf(tables, new Map([[todo.id, 1]])),
    };
  } finally {
    await db.close();
  }
}
