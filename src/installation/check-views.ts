import type { Database } from '../db/database.js';
import { typedLiteral } from '../db/literal.js';
import { isOfMoments, isOfValues, isTransient } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import { allSeen } from '../protocol/snapshot.js';
import { deltaQuery } from '../store/patches/patch-sql.js';
import type { BoundView } from '../view/client-views.js';
import { render } from '../view/parse/template.js';
import type { Installation } from './installation.js';

/**
 * Has Postgres plan every view's delta, over no changes, and every view as a whole. Postgres thereby checks everything
 * that is derived from the query. Null parameters come first: what fails with them fails for every user. Some deltas can be planned only with
 * nulls, for example with a full join; planning each delta with its parameters finds them. Nothing is run: that a value
 * fails for one user says nothing about the view.
 * @throws SetupError that names the view that Postgres refuses, or that reads the time from a constant text.
 */
export async function checkViews(
  db: Database,
  { installation, views }: { installation: Installation; views: readonly BoundView[] },
): Promise<void> {
  const changes = installation.tables.map((table) => ({ table, rows: 0 }));
  const canPlan = (bound: BoundView) =>
    passes(bound, async () => {
      await db.query({ text: `explain ${deltaQuery(noHeader, [bound], changes, allSeen)}` });
      await db.query({ text: `explain ${render(bound.view.whole, bound.literals)}` });
    });
  for (const bound of views) {
    const nulls = { ...bound, literals: bound.view.parameterTypes.map((type) => typedLiteral(null, type)) };
    if (!(await canPlan(nulls))) await checkConstantMoments(db, nulls);
    await canPlan(bound);
  }
}

/** In place of a report, where a statement is only planned. */
export const noHeader = `select '' as line`;

/**
 * Returns false if a statement fails because of its values: it may succeed with others.
 * @throws SetupError if it fails permanently for another reason.
 */
async function passes({ view }: BoundView, work: () => Promise<unknown>): Promise<boolean> {
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
 * While it plans a query, Postgres evaluates the constant expressions. A constant text that is not a date or time, or
 * that means another one each time, would fail every pull.
 * @throws SetupError if the view has such a text.
 */
async function checkConstantMoments(db: Database, { view, literals }: BoundView): Promise<void> {
  try {
    await db.query({ text: `explain ${render(view.now, literals)}` });
  } catch (error) {
    if (isTransient(error)) throw error;
    if (!isOfMoments(error)) return;
    throw new SetupError(
      `The view "${view.name}" cannot be served: it reads text as a date or time, but the text is invalid or, like "now", means a different one each time. Pass the time as a parameter.`,
      { cause: error },
    );
  }
}
