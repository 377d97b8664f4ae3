import { Connection, type Poster, type PostOptions, type Reply } from './connection.js';

/**
 * Connections shared by many clients, like those of a proxy. A request waits for a free connection. Connections take
 * turns, so that the server does not close an idle one.
 */
export class SharedConnections implements Poster {
  readonly #connections: readonly Connection[];
  readonly #free: Connection[];
  readonly #waiting: ((connection: Connection) => void)[] = [];

  private constructor(connections: readonly Connection[]) {
    this.#connections = connections;
    this.#free = [...connections];
  }

  static async open(url: string, count: number, localAddress?: string): Promise<SharedConnections> {
    return new SharedConnections(
      await Promise.all(Array.from({ length: count }, () => Connection.open(url, localAddress))),
    );
  }

  async post(path: string, user: string, body: string, options?: PostOptions): Promise<Reply> {
    const connection = this.#free.shift() ?? (await new Promise<Connection>((resolve) => this.#waiting.push(resolve)));
    try {
      return await connection.post(path, user, body, options);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(connection);
      else this.#free.push(connection);
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}
