import type { Connection, PostOptions, Reply } from './connection.js';

/** A client group that keeps its cookie between pulls. */
export class ClientGroup {
  readonly #connection: Connection;
  readonly #user: string;
  readonly #id: string;
  readonly #schemaVersion: string;
  cookie = 'null';
  /** The wanted instances of views with arguments, as JSON; empty for none. */
  wants = '';

  /** @param schemaVersion The version that the client sends. An application can show views to some versions only. */
  constructor(connection: Connection, user: string, id: string, schemaVersion = '') {
    this.#connection = connection;
    this.#user = user;
    this.#id = id;
    this.#schemaVersion = schemaVersion;
  }

  /** Pulls and stores the new cookie. */
  async pull(keep?: number): Promise<Reply> {
    const reply = await this.repeat({ keep });
    // Long responses end with the cookie.
    const text = reply.body.startsWith('{"patch":') ? reply.end : reply.body;
    const cookie = /"cookie":(?<cookie>\{[^{}]*\}),"lastMutationIDChanges":/.exec(text)?.groups?.cookie;
    if (cookie === undefined) throw new Error(`no pull response: ${reply.body.slice(0, 200)}`);
    this.cookie = cookie;
    return reply;
  }

  /** Pulls with the current cookie, and does not store the new one. */
  repeat(options?: PostOptions): Promise<Reply> {
    const wants = this.wants && `,"wants":${this.wants}`;
    const body = `{"profileID":"p","clientGroupID":"${this.#id}","cookie":${this.cookie},"pullVersion":1,"schemaVersion":"${this.#schemaVersion}"${wants}}`;
    return this.#connection.post('/sync/pull', this.#user, body, options);
  }
}

/**
 * Pulls, and throws unless the response holds this number of ops.
 * @param orReset the number of rows that it may hold instead, after a `clear`
 */
export async function pullOps(group: ClientGroup, ops: number, orReset?: number): Promise<Reply> {
  const reply = await group.pull(Number.POSITIVE_INFINITY);
  const { patch } = JSON.parse(reply.body) as { patch: { readonly op: string }[] };
  const rows = patch[0]?.op === 'clear' ? patch.length - 1 : undefined;
  if (patch.length !== ops && (rows === undefined || rows !== orReset)) {
    throw new Error(`the patch has ${patch.length} ops, not ${ops}`);
  }
  return reply;
}
