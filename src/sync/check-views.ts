import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { parseSnapshot } from '../protocol/snapshot.js';
import type { Installation } from '../store/installation.js';
import { deltaPatch } from '../store/patch-sql.js';
import type { BoundView } from '../view/client-views.js';

/**
 * Runs every view's delta once, over no changes and with null parameters: Postgres then has checked all that is derived from the
 * query.
 * @throws SetupError naming the view that Postgres refuses.
 */
export async function checkViews(
  db: Database,
  { installation, views }: { installation: Installation; views: readonly BoundView[] },
): Promise<void> {
  const [row] = await db.query<{ snapshot: string }>({ text: 'select pg_current_snapshot()::text as snapshot' });
  const snapshot = parseSnapshot(row!.snapshot)!;
  for (const bound of views) {
    const nulls = { ...bound, literals: bound.literals.map(() => 'NULL') };
    try {
      for await (const _ of db.copy(deltaPatch(`select '' as line`, [nulls], installation.tables, snapshot)));
    } catch (error) {
      throw new SetupError(
        `The changes of the view "${bound.view.name}" cannot be computed. Postgres says: ${(error as Error).message}.`,
        { cause: error },
      );
    }
  }
}
