import type { Database } from '../db/database.js';
import { Problem } from '../errors.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import type { Mutation, PushRequest } from '../protocol/push.js';
import { type ClientRecord, readGroup, registerGroup } from '../store/client-groups.js';

/** The options of `PushedGroup`. */
export interface PushedGroupOptions {
  readonly db: Database;
  /** The schema versions that the server accepts. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
}

/** The client group of a push, with the part of its record that has been read so far. */
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

  /** True if the group may not be registered yet. */
  get isNew(): boolean {
    const [first] = this.#request.mutations;
    return first === undefined || first.id === 1;
  }

  /** True if the server accepts the client's schema version. */
  get isServed(): boolean {
    const { schemaVersions } = this.#options;
    return schemaVersions === undefined || schemaVersions.includes(this.#request.schemaVersion);
  }

  /**
   * Reads the group's record, and registers a new group. Returns an error if the push is refused.
   * @throws Problem `forbidden`
   */
  async load(): Promise<ProtocolError | undefined> {
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
      // A group whose record was lost is not registered again. Its client starts over with a new group.
      if (first.id > 1 && !clients.has(first.clientID)) return { error: 'ClientStateNotFound' };
      // If another user registers the group first, the claim of the first mutation fails.
      await registerGroup(db, clientGroupID, this.#userID);
    }
    for (const [clientID, record] of clients) this.#clients.set(clientID, record);
    return undefined;
  }

  /** True if this mutation is known to have been applied. */
  hasApplied({ clientID, id }: Mutation): boolean {
    const record = this.#clients.get(clientID);
    return record?.clientGroupID === this.#request.clientGroupID && id <= record.lastMutationID;
  }

  /** Records that a client's mutations up to this one have been applied. */
  applied({ clientID, id }: Mutation): void {
    this.#clients.set(clientID, { clientGroupID: this.#request.clientGroupID, lastMutationID: id });
  }

  /**
   * Explains why a mutation was not its client's next one, after `load` has read the record. Returns undefined if the
   * mutation has already been applied.
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
