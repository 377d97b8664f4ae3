import type { Database } from '../db/database.js';
import { typedLiteral } from '../db/literal.js';
import { isOfMoments, isOfValues, isTransient } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import { allSeen } from '../protocol/snapshot.js';
import { deltaQuery } from '../store/patch-sql.js';
import type { BoundView } from '../view/client-views.js';
import { render } from '../view/parse/template.js';
import type { Installation } from './installation.js';

/**
 * Has Postgres plan every view's delta, over no changes: it then has checked all that is derived from the query. With null
 * parameters first, which show what fails for all users; then with the given ones, since some joins plan with nulls only.
 * Nothing is run: a value that fails for one user says nothing about the view.
 * @throws SetupError naming the view that Postgres refuses.
 */
export async function checkViews(
  db: Database,
  { installation, views }: { installation: Installation; views: readonly BoundView[] },
): Promise<void> {
  const changes = installation.tables.map((table) => ({ table, rows: 0 }));
  const plans = (bound: BoundView) =>
    passes(bound, () => db.query({ text: `explain ${deltaQuery(noHeader, [bound], changes, allSeen)}` }));
  for (const bound of views) {
    const nulls = { ...bound, literals: bound.view.parameterTypes.map((type) => typedLiteral(null, type)) };
    if (!(await plans(nulls))) await checkConstantMoments(db, nulls);
    await plans(bound);
  }
}

const noHeader = `select '' as line`;

/** False where a statement fails for its values: for others it need not. */
async function passes({ view }: BoundView, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isTransient(error)) throw error;
    if (isOfValues(error)) return false;
    const reason = (error as Error).message;
    throw new SetupError(`The changes of the view "${view.name}" cannot be computed: ${reason}.`, { cause: error });
  }
}

/**
 * While Postgres plans a query it reads what depends on nothing but the query. A text in it that means another moment
 * each time would fail each pull.
 */
async function checkConstantMoments(db: Database, { view, literals }: BoundView): Promise<void> {
  try {
    await db.query({ text: `explain ${render(view.now, literals)}` });
  } catch (error) {
    if (isTransient(error)) throw error;
    if (!isOfMoments(error)) return;
    throw new SetupError(
      `The view "${view.name}" cannot be served: it reads a text as a date or time that is none, or another one each time, as "now" is. Pass the time as a parameter.`,
      { cause: error },
    );
  }
}
