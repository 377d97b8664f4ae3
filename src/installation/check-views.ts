import type { Database } from '../db/database.js';
import { typedLiteral } from '../db/literal.js';
import { isOfMoments, isOfValues, isTransient } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import { allSeen } from '../protocol/snapshot.js';
import { deltaPatch } from '../store/patch-sql.js';
import type { BoundView } from '../view/client-views.js';
import { render } from '../view/parse/template.js';
import type { Installation } from './installation.js';

/**
 * Runs every view's delta once, over no changes and with null parameters: Postgres then has checked all that is derived from the
 * query, also where it then fails for the nulls.
 * @throws SetupError naming the view that Postgres refuses.
 */
export async function checkViews(
  db: Database,
  { installation, views }: { installation: Installation; views: readonly BoundView[] },
): Promise<void> {
  const changes = installation.tables.map((table) => ({ table, rows: 0 }));
  for (const bound of views) {
    const nulls = { ...bound, literals: bound.view.parameterTypes.map((type) => typedLiteral(null, type)) };
    try {
      for await (const _ of db.copy(deltaPatch(`select '' as line`, [nulls], changes, allSeen)));
    } catch (error) {
      if (isTransient(error)) throw error;
      if (isOfValues(error)) {
        await checkConstantMoments(db, nulls);
        continue;
      }
      const reason = (error as Error).message;
      throw new SetupError(`The changes of the view "${bound.view.name}" cannot be computed: ${reason}.`, {
        cause: error,
      });
    }
  }
}

/**
 * While Postgres plans a query it reads what depends on nothing but the query. A text in it that means another moment each time would
 * fail each pull.
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
