/** The ordinary load of many tenants' clients, which pull and sometimes push. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../../bench/client/connection.js';
import { pullBody } from '../../integration/tenants/tenanted.js';

/** The interval between requests of a tenant's clients, and the share of pushes. */
const everyMs = 200;
const pushes = 1 / 5;

/** A client of a tenant. It resumes from its cookie. */
export class TenantClient {
  readonly #connection: Connection;
  readonly #headers: string;
  #cookie: unknown = null;
  #mutationID = 0;

  private constructor(connection: Connection, tenant: string) {
    this.#connection = connection;
    this.#headers = `X-Tenant: ${tenant}\r\n`;
  }

  static async open(url: string, tenant: string): Promise<TenantClient> {
    return new TenantClient(await Connection.open(url), tenant);
  }

  async pull(): Promise<void> {
    const body = await this.#post('pull', { ...pullBody, cookie: this.#cookie });
    this.#cookie = (JSON.parse(body) as { cookie: unknown }).cookie;
  }

  async push(): Promise<void> {
    const id = this.#mutationID + 1;
    // Unique to each run, because several runs share the databases.
    const args = { id: crypto.randomUUID(), body: 'hello' };
    const mutations = [{ id, clientID: this.#clientID, name: 'note.create', args, timestamp: 1 }];
    const { pullVersion: _, cookie: __, ...body } = pullBody;
    await this.#post('push', { ...body, pushVersion: 1, mutations });
    this.#mutationID = id;
  }

  close(): void {
    this.#connection.close();
  }

  readonly #clientID = crypto.randomUUID();

  async #post(endpoint: 'pull' | 'push', body: object): Promise<string> {
    const text = JSON.stringify(body);
    const options = { headers: this.#headers, keep: Number.POSITIVE_INFINITY };
    return (await this.#connection.post(`/sync/${endpoint}`, 'ann', text, options)).body;
  }
}

/** Makes each client send requests at fixed times, regardless of how long the responses take. */
export class Load {
  /** The failures of all requests so far. */
  readonly failures: string[] = [];
  #times: number[] = [];
  #isOver = false;
  readonly #work: Promise<unknown>;

  constructor(clients: readonly TenantClient[]) {
    const begin = performance.now();
    this.#work = Promise.all(clients.map((client, i) => this.#run(client, begin + (everyMs * i) / clients.length)));
  }

  /**
   * Measures the responses of the following seconds.
   * @returns the milliseconds from the time each request was due until its response
   */
  async measure(seconds: number): Promise<readonly number[]> {
    this.#times = [];
    await sleep(1000 * seconds);
    return this.#times;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  async #run(client: TenantClient, first: number): Promise<void> {
    for (let due = first; !this.#isOver; due += everyMs) {
      await sleep(Math.max(0, due - performance.now()));
      // Timers can fire a millisecond early.
      const begin = Math.min(due, performance.now());
      await (Math.random() < pushes ? client.push() : client.pull())
        .then(() => this.#times.push(performance.now() - begin))
        .catch((error: unknown) => this.failures.push(String(error)));
    }
  }
}
