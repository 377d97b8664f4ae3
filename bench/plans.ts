/** How Postgres runs the statements behind pulls, on the database of the bench. */
import type pg from 'pg';
import { openPool } from '../src/db/pg.js';
import { CurrentInstallation } from '../src/installation/current-installation.js';
import { parseSnapshot } from '../src/protocol/snapshot.js';
import { manyRows } from '../src/store/header.js';
import { type LookInput, literalReport, look } from '../src/store/look.js';
import { changesOf, deltaQuery, type TableChanges } from '../src/store/patches/patch-sql.js';
import { seatedSql } from '../src/store/patches/seats.js';
import type { SyncedTable } from '../src/store/patches/states.js';
import { type BoundView, ClientViews } from '../src/view/client-views.js';
import type { CompiledView } from '../src/view/compile/compile.js';
import { render } from '../src/view/parse/template.js';
import { views } from './applications/todos.mjs';
import { userOf } from './database.js';
import type { Plan } from './report/run-record.js';

/** What the statements are made for: a user who has a cookie, and a table in which a little has changed since. */
interface Situation {
  readonly input: LookInput;
  readonly tables: readonly SyncedTable[];
  readonly views: readonly BoundView[];
  readonly changes: readonly TableChanges[];
}

/** Every statement whose plan is shown, written by the code that writes it for a pull. */
const statements: Readonly<Record<string, (situation: Situation) => string>> = {
  'A look, which all share who wait for it': ({ input }) => look(input).text,
  'A first pull, of its larger view': ({ views }) => {
    const { view, literals } = views.at(-1)!;
    return render(view.whole, literals);
  },
  'A small change, for one user': ({ views, changes }) => seatedSql(compiled(views), changes, false),
  'A small change, for many users': ({ views, changes }) => seatedSql(compiled(views), changes, true),
  'A large change, for one user': ({ input, tables, views, changes }) =>
    deltaQuery(
      literalReport(input, tables),
      views,
      changes.map(({ table }) => ({ table, rows: manyRows })),
      input.base!,
    ),
};

function compiled(views: readonly BoundView[]): CompiledView[] {
  return views.map(({ view }) => view);
}

/** @param size how many todos the user sees for whom the statements are written */
export async function explainAll(pool: pg.Pool, databaseURL: string, size: number): Promise<Plan[]> {
  const situation = await situationOf(databaseURL, size);
  const plans: Plan[] = [];
  for (const [name, statement] of Object.entries(statements)) {
    // For a statement that is prepared: the plan for whatever parameters.
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
    const { installation, views: bound } = await new CurrentInstallation(db, new ClientViews(db, views)).bind(input);
    const [row] = await db.query<{ snapshot: string }>({ text: 'select pg_current_snapshot()::text as snapshot' });
    const { tables } = installation;
    const todo = tables.find(({ name }) => name === 'todo')!;
    return {
      input: { base: parseSnapshot(row!.snapshot)!, tables: tables.map(({ id }) => id), groupIDs: ['explained'] },
      tables,
      views: bound,
      changes: changesOf(tables, new Map([[todo.id, 1]])),
    };
  } finally {
    await db.close();
  }
}
