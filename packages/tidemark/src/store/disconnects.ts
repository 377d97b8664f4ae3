/** Disconnected users in the change log. Every server ends their streams and waiting reads. */
import type { Database } from '../db/database.js';
import { isOfPrivileges, isWithoutOperator } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';

/** The table ID under which `tidemark.disconnect` records a user in the change log. */
export const disconnectsID = -1;

/**
 * Records that a user is disconnected.
 * @throws SetupError if the schema is too old, or the server's role lacks the privilege
 */
export async function recordDisconnect(db: Database, userID: string): Promise<void> {
  try {
    await db.query({ text: 'select tidemark.disconnect($1)', values: [userID] });
  } catch (cause) {
    if (isWithoutOperator(cause)) {
      throw new SetupError('Users cannot be disconnected on other servers before you run `tidemark migrate`.', {
        cause,
      });
    }
    if (isOfPrivileges(cause)) {
      throw new SetupError(
        "Users cannot be disconnected on other servers: grant the server's role execute on function tidemark.disconnect(text).",
        { cause },
      );
    }
    throw cause;
  }
}

/** Returns the users who have been disconnected since a snapshot. */
export async function readDisconnected(query: Database['query'], since: Snapshot): Promise<Set<string>> {
  const { lows, highs } = unseenRanges(since);
  const rows = await query<{ userID: string }>({
    name: 'tidemark_disconnected',
    text: 'select distinct key[1] as "userID" from tidemark.unseen($1, $2, $3)',
    values: [disconnectsID, lows, highs],
  });
  return new Set(rows.map(({ userID }) => userID));
}
