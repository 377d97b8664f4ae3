import type { UserContext } from '../context.js';
import type { Database, Statement } from '../db/database.js';
import type { Caller } from '../http/identify.js';
import { isStorableText } from '../protocol/fields.js';
import type { Mutation } from '../protocol/push.js';
import { type ClaimRow, claimMutation, type MutationRef } from '../store/client-groups.js';
import { deleteRefusal } from '../store/refusals.js';

/**
 * The mutation by which a client dismisses a refusal, so that the server stops reporting it to the client's profile.
 */
export const dismissName = 'tidemark/dismissed';

/**
 * Removes a refusal, if the mutation is its client's next one. Returns true if it was the next one.
 * @throws every transient failure
 */
export async function dismissOnce(
  { db, profileID }: { readonly db: Database; readonly profileID: string },
  { args }: Mutation,
  ref: MutationRef,
  { context: { userID } }: Caller<UserContext>,
): Promise<boolean> {
  return db.transact(
    async (_, { first, last }) => {
      const [[claim]] = first as readonly [readonly [ClaimRow]];
      if (claim.claimed) last.push(...deletion(userID, profileID, args));
      return claim.claimed;
    },
    [claimMutation(ref, userID)],
  );
}

/** Returns no statement for args that do not identify a refusal. */
function deletion(userID: string, profileID: string, args: unknown): Statement[] {
  const { clientID, mutationID } = (args ?? {}) as { readonly clientID?: unknown; readonly mutationID?: unknown };
  if (typeof clientID !== 'string' || !isStorableText(clientID) || !Number.isSafeInteger(mutationID)) return [];
  return [deleteRefusal({ userID, profileID, clientID, mutationID: mutationID as number })];
}
