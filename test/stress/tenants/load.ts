/** What the clients of many tenants do in the course of things: each pulls, and now and then pushes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../../bench/client/connection.js';
import { pullBody } from '../../integration/tenants/tenanted.js';

/** How often the clients of a tenant send something, and how many of these are pushes. */
const everyMs = 200;
const pushes = 1 / 5;

/** A client of a tenant, which goes on from where it was. */
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
    // Of a run of its own: databases are kept for several runs.
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

/** Has each client send something again and again, however long the answers take. */
export class Load {
  /** Of all requests so far. */
  readonly failures: string[] = [];
  #times: number[] = [];
  #isOver = false;
  readonly #work: Promise<unknown>;

  constructor(clients: readonly TenantClient[]) {
    const begin = performance.now();
    this.#work = Promise.all(clients.map((client, i) => this.#run(client, begin + (everyMs * i) / clients.length)));
  }

  /**
   * What is answered from now on, for so long.
   * @returns from when each request was sent, or should have been, until it was answered, in milliseconds
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
      // Timers may be early by a millisecond.
      const begin = Math.min(due, performance.now());
      await (Math.random() < pushes ? client.push() : client.pull())
        .then(() => this.#times.push(performance.now() - begin))
        .catch((error: unknown) => this.failures.push(String(error)));
    }
  }
}
