/** A client that pulls from any server and pushes to any, and records incorrect responses. */
import { isDeepStrictEqual } from 'node:util';

/** A server of some version. */
export interface Server {
  /** The schema versions that it serves. Default: any. */
  readonly schemaVersions?: readonly string[];
  readonly fetch: (request: Request) => Promise<Response>;
}

/** The requests of clients of an application's version. */
export interface ClientVersion {
  readonly schemaVersion: string;
  /** The call with this number. */
  readonly mutation: (clientID: string, id: number) => { readonly name: string; readonly args: unknown };
}

const onlyAdds: ClientVersion = {
  schemaVersion: '',
  mutation: (clientID, id) => ({ name: 'add', args: { id: `${clientID}-${id}` } }),
};

interface Answer {
  readonly cookie: Readonly<Record<string, unknown>> & { readonly order: number };
  readonly lastMutationIDChanges: Readonly<Record<string, number>>;
  readonly patch: readonly (
    | { readonly op: 'clear' }
    | { readonly op: 'put'; readonly key: string; readonly value: unknown }
    | { readonly op: 'del'; readonly key: string }
  )[];
}

const refused = { error: 'VersionNotSupported', versionType: 'schema' };

export class Client {
  readonly userID: string;
  readonly clientID: string;
  cookie: Answer['cookie'] | null = null;
  /** Descriptions of everything that was wrong with responses. */
  readonly objections: string[] = [];
  resets = 0;
  /** The number of requests to servers that did not serve its schema version. */
  unserved = 0;
  readonly version: ClientVersion;
  readonly #rows = new Map<string, unknown>();
  #pushed = 0;
  #confirmed = 0;

  constructor(userID: string, clientID: string, version: ClientVersion = onlyAdds) {
    this.version = version;
    this.userID = userID;
    this.clientID = clientID;
  }

  get pushed(): number {
    return this.#pushed;
  }

  /** True if servers have confirmed all its mutations. */
  get isConfirmed(): boolean {
    return this.#confirmed === this.#pushed;
  }

  holds(rows: ReadonlyMap<string, unknown>): boolean {
    return isDeepStrictEqual(new Map([...this.#rows].sort()), new Map([...rows].sort()));
  }

  isServedBy({ schemaVersions }: Server): boolean {
    return schemaVersions?.includes(this.version.schemaVersion) ?? true;
  }

  async pull(server: Server): Promise<void> {
    const { clientID: clientGroupID, cookie } = this;
    const { schemaVersion } = this.version;
    const body = { pullVersion: 1, profileID: 'p', clientGroupID, schemaVersion, cookie };
    const answer = (await this.#send(server, '/sync/pull', body)) as unknown as Answer;
    if (!this.isServedBy(server)) return;
    if (!answer.patch) {
      this.objections.push(`a pull was answered with ${JSON.stringify(answer)}`);
      return;
    }
    if (cookie && answer.cookie.order < cookie.order) this.objections.push('the order has fallen');
    if (cookie && answer.patch[0]?.op === 'clear') this.resets++;
    for (const op of answer.patch) {
      if (op.op === 'clear') this.#rows.clear();
      else if (op.op === 'put') this.#rows.set(op.key, op.value);
      else this.#rows.delete(op.key);
    }
    const confirmed = answer.lastMutationIDChanges[clientGroupID] ?? this.#confirmed;
    if (confirmed < this.#confirmed) this.objections.push('mutations were taken back');
    this.#confirmed = confirmed;
    this.cookie = answer.cookie;
  }

  /** Calls the next mutator, without assuming that the server receives it. */
  async push(server: Server): Promise<void> {
    this.#pushed++;
    await this.pushAgain(server);
  }

  /** Pushes all unconfirmed mutations. */
  async pushAgain(server: Server): Promise<void> {
    const { clientID, clientID: clientGroupID } = this;
    const mutations = Array.from({ length: this.#pushed - this.#confirmed }, (_, i) => {
      const id = this.#confirmed + 1 + i;
      return { id, clientID, ...this.version.mutation(clientID, id), timestamp: 0 };
    });
    await this.#send(server, '/sync/push', {
      pushVersion: 1,
      profileID: 'p',
      clientGroupID,
      schemaVersion: this.version.schemaVersion,
      mutations,
    });
  }

  async #send(server: Server, path: string, body: object): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${this.userID}`, 'content-type': 'application/json' };
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const response = await server.fetch(request);
    if (response.status !== 200) this.objections.push(`${path} was answered with ${response.status}`);
    const answer = (await response.json()) as Record<string, unknown>;
    if (!this.isServedBy(server)) {
      this.unserved++;
      if (!isDeepStrictEqual(answer, refused)) {
        this.objections.push(`${path} was answered by a server of other versions`);
      }
    } else if (answer.error !== undefined) this.objections.push(`${path} was refused: ${JSON.stringify(answer)}`);
    return answer;
  }
}
