import type { Connection } from './connection.js';

export interface PusherOptions {
  readonly user: string;
  readonly id: string;
  readonly mutator: string;
  /** The row that mutations rename. */
  readonly row: string | number;
}

/** A client whose mutations rename rows. */
export class Pusher {
  readonly #connection: Connection;
  readonly #options: PusherOptions;
  #pushed = 0;

  constructor(connection: Connection, options: PusherOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async push(mutations = 1): Promise<void> {
    const { user, id: clientID, mutator: name, row } = this.#options;
    const rename = () => {
      const id = ++this.#pushed;
      return { clientID, id, name, args: { id: row, title: `Pushed ${id} by ${clientID}` }, timestamp: 0 };
    };
    const body = {
      profileID: 'p',
      clientGroupID: `group of ${clientID}`,
      mutations: Array.from({ length: mutations }, rename),
      pushVersion: 1,
      schemaVersion: '',
    };
    await this.#connection.post('/sync/push', user, JSON.stringify(body));
  }
}
