import type { Database } from '../db/database.js';
import { Problem } from '../errors.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { Mutation, PushRequest } from '../protocol/push.js';
import { type ClientRecord, readGroup, registerGroup } from '../store/client-groups.js';

/** The options of `PushedGroup`. */
export interface PushedGroupOptions {
  readonly db: Database;
  /** The schema versions that are served. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
}

/** The client group of a push, as far as its record is known. */
export class PushedGroup {
  readonly #options: PushedGroupOptions;
  readonly #request: PushRequest;
  readonly #userID: string;
  readonly #clients = new Map<string, ClientRecord>();

  constructor(options: PushedGroupOptions, request: PushRequest, userID: string) {
    this.#options = options;
    this.#request = request;
    this.#userID = userID;
  }

  /** Whether the group may not have been registered yet. */
  get isNew(): boolean {
    const [first] = this.#request.mutations;
    return first === undefined || first.id === 1;
  }

  /** Whether the client's schema version is served. */
  get isServed(): boolean {
    const { schemaVersions } = this.#options;
    return schemaVersions === undefined || schemaVersions.includes(this.#request.schemaVersion);
  }

  /**
   * Reads the group's record, and registers the group if it is new. Returns why the push is refused, if it is.
   * @throws Problem `forbidden`
   */
  async enter(): Promise<ProtocolError | undefined> {
    const { clientGroupID, mutations } = this.#request;
    const { db } = this.#options;
    const clientIDs = [...new Set(mutations.map((mutation) => mutation.clientID))];
    const { owner, clients } = await readGroup(db, clientGroupID, clientIDs);
    if (owner !== null && owner !== this.#userID) {
      throw new Problem('forbidden', 'The client group belongs to another user');
    }
    if (!this.isServed) return { error: 'VersionNotSupported', versionType: 'schema' };
    const [first] = mutations;
    if (owner === null && first !== undefined) {
      // A group whose record was lost is not recorded again: its client starts over with a new group.
      if (first.id > 1 && !clients.has(first.clientID)) return { error: 'ClientStateNotFound' };
      // If another user is faster, the claim of the first mutation fails.
      await registerGroup(db, clientGroupID, this.#userID);
    }
    for (const [clientID, record] of clients) this.#clients.set(clientID, record);
    return undefined;
  }

  /** Whether this mutation is known to be applied. */
  hasApplied({ clientID, id }: Mutation): boolean {
    const record = this.#clients.get(clientID);
    return record?.clientGroupID === this.#request.clientGroupID && id <= record.lastMutationID;
  }

  /** Notes that a client's mutations up to this one are applied. */
  applied({ clientID, id }: Mutation): void {
    this.#clients.set(clientID, { clientGroupID: this.#request.clientGroupID, lastMutationID: id });
  }

  /**
   * Says why a mutation was not its client's next one, once the record has been read. Returns undefined if it is
   * applied already.
   * @throws Problem `forbidden` or `mutation-gap`
   */
  refuse({ clientID, id }: Mutation): ProtocolError | undefined {
    const record = this.#clients.get(clientID);
    if (record === undefined) return { error: 'ClientStateNotFound' };
    if (record.clientGroupID !== this.#request.clientGroupID) {
      throw new Problem('forbidden', 'A client in the push belongs to another client group');
    }
    if (record.lastMutationID >= id) return undefined;
    const detail = `Mutation ${id} came before mutation ${record.lastMutationID + 1} of the same client`;
    throw new Problem('mutation-gap', detail);
  }
}
