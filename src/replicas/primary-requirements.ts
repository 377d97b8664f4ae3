/** Derives read requirements from the primary's change-log cache. Pure. */

import type { ChangeLogCache } from '../change-log/change-log-cache.js';
import type { CookieMeaning } from '../protocol/cookie.js';
import type { Snapshot } from '../protocol/snapshot.js';
import type { ReadRequirement } from '../pulls/read-requirement.js';

/** @param base the snapshot of the cookie, if there is a usable one */
export type PrimaryRequirementOf = (base: Snapshot | undefined) => Omit<ReadRequirement, 'confirms'>;

/** Requires only what the cookie has seen. */
export const noRequirement: PrimaryRequirementOf = () => ({ since: undefined, timeline: undefined, xids: [] });

/** Requires a client group's own mutations. If the primary does not answer, requires only what the cookie has seen. */
export function readYourWrites(cache: ChangeLogCache | undefined, clientGroupID: string): PrimaryRequirementOf {
  if (!cache) return noRequirement;
  return (base) => {
    const { since, xids } = cache.mutationsOf(clientGroupID, base);
    return { since: since && upTo(cache, since), timeline: timelineOf(cache), xids };
  };
}

/** Requires all commits of the primary so far. If it does not answer, requires only what the cookie has seen. */
export function allCommits(cache: ChangeLogCache | undefined): PrimaryRequirementOf {
  if (!cache) return noRequirement;
  return () => ({ since: upTo(cache, cache.state.snapshot), timeline: timelineOf(cache), xids: [] });
}

/** @param snapshot a current or previous snapshot of the cache */
function upTo({ state }: ChangeLogCache, snapshot: Snapshot): CookieMeaning {
  return { parsedSnapshot: snapshot, parsedNext: state.nextXid };
}

function timelineOf({ state }: ChangeLogCache): string | null | undefined {
  return state.history.current;
}
