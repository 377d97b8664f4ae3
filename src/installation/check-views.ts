import type { Database } from '../db/database.js';
import { typedLiteral } from '../db/literal.js';
import { isOfMoments, isOfValues, isTransient } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import { allSeen } from '../protocol/snapshot.js';
import { deltaPatch, deltaQuery } from '../store/patch-sql.js';
import type { BoundView } from '../view/client-views.js';
import { render } from '../view/parse/template.js';
import type { Installation } from './installation.js';

/**
 * Runs every view's delta once, over no changes and with null parameters. Postgres thereby checks everything that is
 * derived from the query, even if the statement then fails because of the nulls. Some deltas can be planned only with
 * nulls, for example with a full join; planning each delta with its parameters finds them.
 * @throws SetupError that names the view that Postgres refuses, or that reads the time from a constant text.
 */
export async function checkViews(
  db: Database,
  { installation, views }: { installation: Installation; views: readonly BoundView[] },
): Promise<void> {
  const changes = installation.tables.map((table) => ({ table, rows: 0 }));
  for (const bound of views) {
    const nulls = { ...bound, literals: bound.view.parameterTypes.map((type) => typedLiteral(null, type)) };
    const runs = await passes(bound, async () => {
      for await (const _ of db.copy(deltaPatch(noHeader, [nulls], changes, allSeen)));
    });
    if (!runs) await checkConstantMoments(db, nulls);
    await passes(bound, () => db.query({ text: `explain ${deltaQuery(noHeader, [bound], changes, allSeen)}` }));
  }
}

const noHeader = `select '' as line`;

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
    throw new SetupError(`The changes of the view "${view.name}" cannot be computed: ${reason}.`, { cause: error });
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
      `The view "${view.name}" cannot be served: it reads a text as a date or time that is none, or another one each time, as "now" is. Pass the time as a parameter.`,
      { cause: error },
    );
  }
}
