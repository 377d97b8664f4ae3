/** Servers of several versions over one database, and clients that switch between them. */
import type pg from 'pg';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import { seeded } from '../../integration/conformance/random.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';
import type { Code } from '../oracle/code.js';
import { Client, type Server } from './client.js';

const users = ['ann', 'ben', 'cat'];
const clientsPerUser = 3;
const hour = 3600;

interface User {
  readonly userID: string;
}

const views = {
  entry: defineView({
    query: ({ ctx }) => ({ text: 'select id, n from entry where owner = $1', values: [ctx.userID] }),
    key: 'id',
    prefix: '',
  }),
};

interface Running extends Server {
  readonly lines: ReturnType<typeof memoryLog>['lines'];
  close(): Promise<void>;
}

export class Fleet {
  readonly #database: TestDatabase;
  readonly #random: ReturnType<typeof seeded>;
  readonly #servers = new Map<Code, Running[]>();
  readonly #ended: Running[] = [];
  readonly clients: readonly Client[] = users.flatMap((user) =>
    Array.from({ length: clientsPerUser }, (_, i) => new Client(user, `${user}${i}`)),
  );

  private constructor(database: TestDatabase, seed: number) {
    this.#database = database;
    this.#random = seeded(seed);
  }

  static async create(seed: number): Promise<Fleet> {
    const database = await createEmptyDatabase();
    await database.pool.query('create table entry (id text primary key, owner text not null, n int not null)');
    return new Fleet(database, seed);
  }

  get pool(): pg.Pool {
    return this.#database.pool;
  }

  migrate(code: Code): Promise<void> {
    return code.migrate({ database: this.#database.url, views, log: silent });
  }

  /** Starts servers of a version. They write their first heartbeat immediately, not after a minute. */
  async start(code: Code, count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const { log, lines } = memoryLog();
      const sync = await code.createSync({
        database: this.#database.url,
        views,
        mutators: code.defineMutators({
          add: code.defineMutator<User>()(async ({ tx, ctx, args }) => {
            await tx.query('insert into entry values ($1, $2, 0)', [(args as { id: string }).id, ctx.userID]);
          }),
        }),
        authenticate: (request: Request) => ({ userID: request.headers.get('authorization')!.slice('Bearer '.length) }),
        log,
      });
      const running = { fetch: (request: Request) => sync.fetch(request), close: () => sync.close(), lines };
      this.#servers.set(code, [...(this.#servers.get(code) ?? []), running]);
    }
    await this.writeHeartbeat(code);
  }

  /** Writes a heartbeat, as each server does once a minute. */
  async writeHeartbeat(code: Code): Promise<void> {
    const db = code.openPool(this.#database.url, { max: 1 });
    await code.prune(db, hour).finally(() => db.close());
  }

  async stop(code: Code): Promise<void> {
    const servers = this.#servers.get(code) ?? [];
    this.#servers.delete(code);
    this.#ended.push(...servers);
    for (const server of servers) await server.close();
  }

  /** Pulls, pushes and other writes, several at a time. */
  async work(steps: number): Promise<void> {
    const work = async (client: Client) => {
      for (let step = 0; step < steps; step++) await this.#step(client);
    };
    await Promise.all(this.clients.map(work));
  }

  async #step(client: Client): Promise<void> {
    const what = this.#random(10);
    if (what < 2) await client.push(this.#server());
    else if (what < 4) await this.pool.query('update entry set n = n + 1 where id = (select min(id) from entry)');
    else if (what < 5) await this.pool.query('delete from entry where n > 5');
    else await client.pull(this.#server());
  }

  /** Brings all clients to a final state, and returns all objections, including earlier ones. */
  async converge(): Promise<string[]> {
    const wrong: string[] = [];
    for (const client of this.clients) {
      await client.pushAgain(this.#server());
      await client.pull(this.#server());
    }
    for (const client of this.clients) await client.pull(this.#server());
    for (const client of this.clients) {
      const { rows } = await this.pool.query('select id, n from entry where owner = $1', [client.userID]);
      if (!client.holds(new Map(rows.map((row) => [row.id, row])))) wrong.push(`${client.clientID} holds other rows`);
      if (!client.isConfirmed) wrong.push(`${client.clientID} was not told of all its mutations`);
      wrong.push(...client.objections);
    }
    const { rows } = await this.pool.query(
      'select coalesce(sum(last_mutation_id), 0)::int as applied from tidemark.client',
    );
    const pushed = this.clients.reduce((sum, client) => sum + client.pushed, 0);
    if (rows[0].applied !== pushed) wrong.push(`${pushed} mutations were pushed, and ${rows[0].applied} applied`);
    const failed = await this.pool.query('select code from tidemark.refusal');
    wrong.push(...failed.rows.map(({ code }) => `a mutation was refused: ${code}`));
    return wrong;
  }

  /** The reasons for resets, and the servers' complaints. */
  get complaints(): readonly unknown[] {
    return [...this.#ended, ...[...this.#servers.values()].flat()].flatMap(({ lines }) =>
      lines.flatMap(({ level, message, fields }) =>
        fields.reason !== undefined || level === 'error' || level === 'warn' ? [{ message, ...fields }] : [],
      ),
    );
  }

  async close(): Promise<void> {
    for (const code of [...this.#servers.keys()]) await this.stop(code);
    await this.#database.drop();
  }

  #server(): Server {
    return this.#pick([...this.#servers.values()].flat());
  }

  #pick<T>(among: readonly T[]): T {
    return among[this.#random(among.length)]!;
  }
}
