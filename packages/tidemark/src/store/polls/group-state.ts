/** The record of a pull's client group, and the part of it that the pull needs. Pure. */
import { hasSeen, type Snapshot } from '../../protocol/snapshot.js';

/** A pull's client group, in a statement that can serve several pulls. */
export interface GroupRequest {
  readonly clientGroupID: string;
  /** The cookie was issued to this client group, so the pull needs only the mutation IDs that have changed since. */
  readonly sameGroup: boolean;
  /** The client that the request names, if any. */
  readonly clientID: string | undefined;
}

/** A client group's record. */
export interface GroupRecord {
  readonly owner: string | null;
  readonly clients: readonly ClientFields[];
}

/** A client, its lastMutationID, and the transaction that applied that mutation. */
export type ClientFields = readonly [id: string, lastMutationID: number, xid: string];

/** The state of the pull's client group. */
export interface GroupState {
  /** The user to whom the client group belongs; null if the group is unknown. */
  readonly owner: string | null;
  /** False if the request names an unknown client. */
  readonly clientKnown: boolean;
  /** The IDs that have changed since the base; null if none has. From the change-log cache, `{}` if some may have. */
  readonly lastMutationIDs: Readonly<Record<string, number>> | null;
  /** The sum of the group's lastMutationIDs. */
  readonly mutations: number;
}

export function groupStateOf(record: GroupRecord, request: GroupRequest, base: Snapshot | undefined): GroupState {
  const { owner, clients } = record;
  const { sameGroup, clientID } = request;
  const moved = clients.filter(([, , xid]) => !base || !sameGroup || !hasSeen(base, BigInt(xid)));
  return {
    owner,
    clientKnown: clientID === undefined || clients.some(([id]) => id === clientID),
    lastMutationIDs: moved.length === 0 ? null : Object.fromEntries(moved.map(([id, last]) => [id, last])),
    mutations: clients.reduce((sum, [, last]) => sum + last, 0),
  };
}
