/** Servers of several versions of an application over one database, and clients that are routed to any of them. */
import type pg from 'pg';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { seeded } from '../../integration/conformance/random.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { type Application, applications, clientVersions, rowsOf, schema } from './application.js';
import { Client } from './client.js';
import { type Running, startServer } from './servers.js';

const users = ['ann', 'ben', 'cat'];

export class Deployment {
  readonly #database: TestDatabase;
  readonly #random: ReturnType<typeof seeded>;
  /** The reasons for which stopped servers reset clients. */
  readonly reasons = new Set<string>();
  #servers: readonly Running[] = [];
  readonly #removed: Client[] = [];
  #clients: readonly Client[] = [];

  private constructor(database: TestDatabase, seed: number) {
    this.#database = database;
    this.#random = seeded(seed);
  }

  static async create(seed: number): Promise<Deployment> {
    const database = await createEmptyDatabase();
    await database.pool.query(schema);
    return new Deployment(database, seed);
  }

  get pool(): pg.Pool {
    return this.#database.pool;
  }

  migrate({ views, schemaVersions }: Application): Promise<void> {
    return migrate({ database: this.#database.url, views, schemaVersions, log: silent });
  }

  /** @throws SetupError if the database is not ready for it */
  async start(application: Application, count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.#servers = [...this.#servers, await startServer(this.#database.url, application)];
    }
  }

  async stop(application: Application): Promise<void> {
    const ending = this.#servers.filter((server) => server.application === application);
    this.#servers = this.#servers.filter((server) => server.application !== application);
    for (const server of ending) for (const reason of await server.close()) this.reasons.add(reason);
  }

  /** Opens clients of a schema version: two for each user. */
  open(schemaVersion: string): void {
    const version = clientVersions.find((one) => one.schemaVersion === schemaVersion)!;
    const clients = users.flatMap((user) =>
      [0, 1].map((i) => new Client(user, `${user}${i}v${schemaVersion}`, version)),
    );
    this.#clients = [...this.#clients, ...clients];
  }

  /** Removes and returns the clients of a schema version. */
  leave(schemaVersion: string): readonly Client[] {
    const leaving = this.#clients.filter(({ version }) => version.schemaVersion === schemaVersion);
    this.#clients = this.#clients.filter((client) => !leaving.includes(client));
    this.#removed.push(...leaving);
    return leaving;
  }

  /** All clients pull and push while others write, several at a time. */
  async work(steps: number): Promise<void> {
    const work = async (client: Client) => {
      for (let step = 0; step < steps; step++) await this.#step(client);
    };
    await Promise.all(this.#clients.map(work));
  }

  async #step(client: Client): Promise<void> {
    const what = this.#random(10);
    if (what < 3) await client.push(this.server());
    else if (what < 4) await client.pushAgain(this.server());
    else if (what < 5) await this.pool.query('update entry set n = n + 1 where id = (select min(id) from entry)');
    else await client.pull(this.server());
  }

  /** Brings all clients to a final state at servers that serve them. Returns all objections, including earlier ones. */
  async converge(): Promise<string[]> {
    const wrong: string[] = [];
    for (const client of this.#clients) {
      await client.pushAgain(this.server(client));
      await client.pull(this.server(client));
    }
    for (const client of this.#clients) {
      const { userID, clientID, version } = client;
      const server = this.server(client);
      await client.pull(server);
      const query = async (text: string, values: unknown[]) => (await this.pool.query(text, values)).rows;
      const rows = await rowsOf(server.application, userID, version.schemaVersion, query);
      if (!client.holds(rows)) wrong.push(`${clientID} holds other rows than its version has`);
      if (!client.isConfirmed) wrong.push(`${clientID} was not told of all its mutations`);
    }
    const everyone = [...this.#removed, ...this.#clients];
    const pushed = everyone.flatMap(({ clientID, pushed }) =>
      Array.from({ length: pushed }, (_, i) => `${clientID}-${i + 1}`),
    );
    const { rows } = await this.pool.query<{ mutation: string }>(
      'select mutation from written order by mutation collate "C"',
    );
    const written = rows.map(({ mutation }) => mutation);
    if (written.join() !== pushed.toSorted().join()) wrong.push(`${pushed.length} pushed, ${written.length} applied`);
    const { rowCount } = await this.pool.query('select from tidemark.refusal');
    if (rowCount !== 0) wrong.push(`${rowCount} mutations were refused`);
    return [...wrong, ...everyone.flatMap(({ objections }) => objections)];
  }

  /** The number of resets of all clients. */
  get resets(): number {
    return [...this.#removed, ...this.#clients].reduce((sum, { resets }) => sum + resets, 0);
  }

  /** The number of requests to servers that do not serve the clients' version. */
  unserved(schemaVersion: string): number {
    const clients = this.#clients.filter(({ version }) => version.schemaVersion === schemaVersion);
    return clients.reduce((sum, { unserved }) => sum + unserved, 0);
  }

  /** The number of pulls that the running servers have counted, summed up. */
  async pullsOf(schemaVersion: string): Promise<number> {
    let sum = 0;
    for (const { fetch } of this.#servers) {
      const text = await (await fetch(new Request('http://localhost/metrics'))).text();
      const [, count = 0] =
        new RegExp(`^tidemark_pull_requests_total\\{version="${schemaVersion}"\\} (\\d+)`, 'm').exec(text) ?? [];
      sum += Number(count);
    }
    return sum;
  }

  /** Picks any server, or any that serves a client. */
  server(client?: Client): Running {
    const servers = client ? this.#servers.filter((server) => client.isServedBy(server)) : this.#servers;
    return servers[this.#random(servers.length)]!;
  }

  async close(): Promise<void> {
    for (const application of Object.values(applications)) await this.stop(application);
    await this.#database.drop();
  }
}
