import type { Database } from '../../db/database.js';
import { typedLiteral } from '../../db/literal.js';
import { isOfDateTimes, isOfValues, isTransient } from '../../db/sqlstate.js';
import { SetupError } from '../../errors.js';
import { allSeen } from '../../protocol/snapshot.js';
import { deltaQuery } from '../../store/patches/patch-sql.js';
import type { ResolvedView } from '../../view/client-views.js';
import { render } from '../../view/parse/template.js';
import type { SchemaState } from '../schema-state.js';

/**
 * Has Postgres plan every view's delta, over no changes, and every view as a whole, which checks everything derived
 * from the query. The first plans use null parameters, because what fails with them fails for every user. Some deltas,
 * such as those with a full join, can be planned only with nulls; plans with the user's parameters detect these. No
 * statement is executed, because a value that fails for one user says nothing about the view.
 * @throws SetupError that names the view if Postgres refuses it, or if it reads the time from a constant text.
 */
export async function checkViews(
  db: Database,
  { schema, views }: { schema: SchemaState; views: readonly ResolvedView[] },
): Promise<void> {
  const changes = schema.tables.map((table) => ({ table, rows: 0 }));
  const canPlan = (resolved: ResolvedView) =>
    passes(resolved, async () => {
      await db.query({ text: `explain ${deltaQuery(noObservation, [resolved], changes, allSeen)}` });
      await db.query({ text: `explain ${render(resolved.view.whole, resolved.literals)}` });
    });
  for (const resolved of views) {
    const nulls = { ...resolved, literals: resolved.view.parameterTypes.map((type) => typedLiteral(null, type)) };
    if (!(await canPlan(nulls))) await checkConstantDateTimes(db, nulls);
    await canPlan(resolved);
  }
}

/** Replaces the observation in statements that are only planned. */
export const noObservation = `select '' as line`;

/**
 * Runs `work`. Returns false if a statement fails because of its values, since it may succeed with others.
 * @throws SetupError if it fails permanently for another reason.
 */
async function passes({ view }: ResolvedView, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isTransient(error)) throw error;
    if (isOfValues(error)) return false;
    const reason = (error as Error).message;
    throw new SetupError(`The changes to the view "${view.name}" cannot be computed: ${reason}.`, { cause: error });
  }
}

/**
 * Postgres evaluates constant expressions while it plans a query. If a constant text is not a date or time, or means a
 * different one each time, every pull would fail.
 * @throws SetupError if the view has such a text.
 */
async function checkConstantDateTimes(db: Database, { view, literals }: ResolvedView): Promise<void> {
  try {
    await db.query({ text: `explain ${render(view.now, literals)}` });
  } catch (error) {
    if (isTransient(error)) throw error;
    if (!isOfDateTimes(error)) return;
    throw new SetupError(
      `The view "${view.name}" cannot be served: it reads text as a date or time, but the text is invalid or, like "now", means a different one each time. Pass the time as a parameter.`,
      { cause: error },
    );
  }
}
