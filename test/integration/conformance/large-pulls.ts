/** Many simultaneous first pulls of much data, by clients that may read slowly, give up or retry. */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerOptions, startServer, type TestServer } from './server.js';
import { type Address, pullBody } from './wire.js';

/**
 * A server whose user `ann` has this many todos of this many characters each, and `bob` a list of his own. Sockets
 * buffer some 20 MB, so smaller pulls end in the database even if the client does not read them.
 */
export async function startWithTodos(todos: number, length: number, options?: ServerOptions): Promise<TestServer> {
  const server = await startServer(options);
  await server.pool.query(
    `insert into list (id, owner_id, name) values ('l', 'ann', 'Groceries'), ('b', 'bob', 'Chores')`,
  );
  await server.pool.query(
    `insert into todo (id, list_id, title, sort) select n, 'l', repeat('x', $2), n from generate_series(1, $1::int) n`,
    [todos, length],
  );
  await server.pool.query('analyze');
  return server;
}

/** The number of the server's connections that copy pulls of client groups whose names begin with "large". */
export async function copying({ pool }: TestServer): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity
     where datname = current_database() and state = 'active' and query like 'select set_config%copy (%{"large %'`,
  );
  return rows[0]!.count;
}

export interface PullEnd {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The number of ops if the response is complete, otherwise -1. */
  readonly ops: number;
}

const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });

/** A first pull whose response is read only on request. */
export class LargePull {
  /** The user who sends it. */
  static readonly user = 'ann';
  readonly #request: ClientRequest;
  readonly #response: Promise<IncomingMessage>;
  /** The status of the response, once it has arrived. */
  status: number | undefined;

  constructor({ url }: Address, clientGroupID: string) {
    this.#request = request(`${url}/sync/pull`, {
      agent,
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${LargePull.user}` },
    });
    this.#response = new Promise((resolve, reject) => {
      this.#request.on('response', resolve).on('error', reject);
    });
    this.#request.on('response', ({ statusCode }) => {
      this.status = statusCode;
    });
    this.#response.catch(() => {});
    this.#request.end(JSON.stringify(pullBody({ clientGroupID })));
  }

  giveUp(): void {
    this.#request.destroy();
  }

  async read(): Promise<PullEnd> {
    const response = await this.#response;
    let lines = 0;
    let last = '';
    for await (const chunk of response as AsyncIterable<Buffer>) {
      for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', at + 1)) lines++;
      last = (last + chunk.subarray(-2).toString('latin1')).slice(-2);
    }
    const { statusCode: status, headers } = response;
    return { status: status!, retryAfter: headers['retry-after'], ops: last === '}}' ? lines : -1 };
  }
}

/** Pulls as the Replicache client does: retries after 30 ms, then after delays that double, up to a minute. */
export async function pullUntilWhole(server: Address, group: string, first?: LargePull): Promise<PullEnd[]> {
  const ends: PullEnd[] = [];
  for (let pauseMs = 30, pull = first; ; pauseMs = Math.min(2 * pauseMs, 60_000), pull = undefined) {
    const end = await (pull ?? new LargePull(server, group)).read();
    ends.push(end);
    if (end.status === 200) return ends;
    await sleep(pauseMs);
  }
}
