/** Answers pulls from the change-log cache. Pure. */
import type { SchemaState } from '../schema/schema-state.js';
import type { GroupRequest } from '../store/polls/group-state.js';
import { joinStates, type ObservedState } from '../store/polls/observation.js';
import type { ChangeLogCache } from './change-log-cache.js';
import type { VerifiedCookie } from './cookie-cache.js';

/** The part of a pull that a cache lookup needs. */
export interface CacheReader {
  readonly schema: SchemaState;
  readonly verifiedCookie: VerifiedCookie;
  readonly groupRequest: GroupRequest;
}

/**
 * Returns the state for a pull; undefined if the cache does not have it. If data has changed, a statement will follow.
 * Then the state need not contain the client group's mutations, only whether they may have changed.
 */
export function stateFromCache(
  cache: ChangeLogCache,
  { verifiedCookie, groupRequest, schema }: CacheReader,
): ObservedState | undefined {
  // The current timeline was not recorded yet. Only another statement can show that it has been since.
  if (cache.state.history.current === null) return undefined;
  const { heartbeat, mutations } = verifiedCookie.cookie;
  const base = verifiedCookie.baseIn(cache);
  const { tableIDs: tables } = schema;
  if (!groupRequest.sameGroup || !cache.lists(tables) || !cache.reaches(base)) return undefined;
  if (heartbeat !== null && !cache.knowsHeartbeat(heartbeat)) return undefined;
  const { clientGroupID, clientID } = groupRequest;
  const { changed, truncated } = cache.since(base, tables);
  const record = cache.group(clientGroupID);
  const isClientKnown = clientID === undefined || record?.clients.some(([id]) => id === clientID) === true;
  const isGroupUnchanged = record !== undefined && isClientKnown && !cache.hasMutations(base, clientGroupID);
  if (changed.length === 0 && !isGroupUnchanged) return undefined;
  return joinStates(
    cache.state,
    { owner: record?.owner ?? null, clientKnown: true, lastMutationIDs: isGroupUnchanged ? null : {}, mutations },
    { changeCounts: changed, truncated, diverged: false },
  );
}
