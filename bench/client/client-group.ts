import type { Poster, PostOptions, Reply } from './connection.js';

/** A client group that remembers its cookie from pull to pull. */
export class ClientGroup {
  readonly #connection: Poster;
  readonly #user: string;
  readonly #id: string;
  cookie = 'null';

  constructor(connection: Poster, user: string, id: string) {
    this.#connection = connection;
    this.#user = user;
    this.#id = id;
  }

  /** Pulls and takes over the new cookie. */
  async pull(keep?: number): Promise<Reply> {
    const reply = await this.repeat({ keep });
    const end = reply.body.indexOf(',"lastMutationIDChanges"');
    if (!reply.body.startsWith('{"cookie":') || end < 0)
      throw new Error(`no pull response: ${reply.body.slice(0, 200)}`);
    this.cookie = reply.body.slice('{"cookie":'.length, end);
    return reply;
  }

  /** Pulls with the cookie that it has. */
  repeat(options?: PostOptions): Promise<Reply> {
    const body = `{"profileID":"p","clientGroupID":"${this.#id}","cookie":${this.cookie},"pullVersion":1,"schemaVersion":""}`;
    return this.#connection.post('/sync/pull', this.#user, body, options);
  }
}

/**
 * Pulls, and fails unless the response holds so many ops.
 * @param orReset how many rows it may hold instead, after a `clear`
 */
export async function pullOps(group: ClientGroup, ops: number, orReset?: number): Promise<Reply> {
  const reply = await group.pull(Number.POSITIVE_INFINITY);
  const { patch } = JSON.parse(reply.body) as { patch: { readonly op: string }[] };
  const rows = patch[0]?.op === 'clear' ? patch.length - 1 : undefined;
  if (patch.length !== ops && (rows === undefined || rows !== orReset))
    throw new Error(`the patch has ${patch.length} ops, not ${ops}`);
  return reply;
}
