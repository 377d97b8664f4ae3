/** Measures many large first pulls at the same time, and their effect on clients with small requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientGroup } from '../../client/client-group.js';
import { type Connection, Refusal } from '../../client/connection.js';
import { addTodos, todoOf, userOf } from '../../database.js';
import { atLeast } from '../../goal.js';
import { type Bench, type Result, short, withConnections } from '../../scenario.js';
import { quantile } from '../../statistics.js';

const size = 60_000;
const everyMs = 50;
const patienceMs = 120_000;

interface Counts {
  refused: number;
  retries: number;
}

/** Retries until it succeeds: a busy server says when to retry. */
async function retried<T>(counts: Counts, work: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + patienceMs; ; counts.retries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 503 || performance.now() > deadline) throw error;
      counts.refused++;
      await sleep(Math.max(error.retryAfterMs, 100));
    }
  }
}

export async function crowd(bench: Bench): Promise<Result[]> {
  const { pool, server, sizes, isQuick } = bench;
  await addTodos(pool, size);
  await pool.query('analyze list, share, todo');
  const clients = isQuick ? 10 : 50;
  return withConnections(async (open) => {
    const connections = await Promise.all(Array.from({ length: clients }, () => open(server.url)));
    const others = new Others(() => open(server.url), sizes[0]!);
    await others.begin();
    const quiet = await others.during(() => sleep(isQuick ? 500 : 3000));
    const counts: Counts = { refused: 0, retries: 0 };
    const started = performance.now();
    const times: number[] = [];
    server.resetPeak();
    const busy = await others.during(() =>
      Promise.all(
        connections.map(async (connection, i) => {
          const group = new ClientGroup(connection, userOf(size), `crowd${i}`);
          const { bytes } = await retried(counts, () => group.pull());
          if (bytes < 100 * size) throw new Error(`a first pull of ${size} rows was answered with ${bytes} bytes`);
          times.push(performance.now() - started);
        }),
      ),
    );
    const name = `${clients} first pulls of ${short(size)} rows at once`;
    const note = `${counts.refused} times 503, ${counts.retries} retries`;
    const memory = server.peakMemory();
    return [
      { name: `${name}: served`, value: times.length, unit: '', goals: [atLeast(clients)], note },
      {
        name: `${name}: until the last response`,
        value: Math.max(...times),
        unit: 'ms',
        note: `first after ${Math.min(...times).toFixed(0)} ms`,
      },
      ...(memory === undefined ? [] : [{ name: `${name}: the server's memory`, value: memory, unit: 'MB' }]),
      ...besides('push', busy.pushes, quiet.pushes, busy.counts),
      ...besides('small pull', busy.pulls, quiet.pulls, busy.counts),
    ];
  });
}

function besides(what: string, busy: readonly number[], quiet: readonly number[], counts: Counts): Result[] {
  return [0.5, 0.95].map((q): Result => {
    const [value, limit] = [quantile(busy, q), quantile(quiet, q)];
    return {
      name: `during them: ${what}, p${100 * q}`,
      value,
      unit: 'ms',
      limit,
      limitName: 'the same without them',
      ratio: value / limit,
      note: `of ${busy.length}; ${counts.refused} times 503 for both`,
    };
  });
}

/** Sends a push and a small pull every 50 ms, without waiting for the previous ones. */
class Others {
  readonly #open: () => Promise<Connection>;
  readonly #user: string;
  readonly #todo: string;
  /** Connections without a pending request. */
  readonly #free: Connection[] = [];
  #pushed = 0;
  #cookie = 'null';

  constructor(open: () => Promise<Connection>, seen: number) {
    this.#open = open;
    this.#user = userOf(seen);
    this.#todo = todoOf(seen, 1);
  }

  /** Makes the first pull, which is not a small one. */
  async begin(): Promise<void> {
    await this.#pull();
  }

  /** The duration of each request since it was due, including retries. */
  async during(work: () => Promise<unknown>): Promise<{ pushes: number[]; pulls: number[]; counts: Counts }> {
    const [pushes, pulls]: [number[], number[]] = [[], []];
    const counts: Counts = { refused: 0, retries: 0 };
    let isOver = false;
    const begun: Promise<unknown>[] = [];
    const timed = async (samples: number[], one: () => Promise<unknown>) => {
      const started = performance.now();
      await retried(counts, one);
      samples.push(performance.now() - started);
    };
    const begin = async () => {
      while (!isOver) {
        begun.push(
          timed(pushes, () => this.#push()),
          timed(pulls, () => this.#pull()),
        );
        await sleep(everyMs);
      }
    };
    const beginning = begin();
    await work().finally(() => {
      isOver = true;
    });
    await beginning;
    await Promise.all(begun);
    return { pushes, pulls, counts };
  }

  async #pull(): Promise<void> {
    await this.#withConnection(async (connection) => {
      const group = new ClientGroup(connection, this.#user, 'beside');
      group.cookie = this.#cookie;
      await group.pull();
      this.#cookie = group.cookie;
    });
  }

  /** Each push is from another client, because pushes of one client would wait for one another. */
  async #push(): Promise<void> {
    const clientID = `beside${++this.#pushed}`;
    const args = { id: this.#todo, title: `Pushed by ${clientID}` };
    const mutations = [{ clientID, id: 1, name: 'todo.rename', args, timestamp: 0 }];
    const body = { profileID: 'p', clientGroupID: 'beside', mutations, pushVersion: 1, schemaVersion: '' };
    await this.#withConnection((connection) => connection.post('/sync/push', this.#user, JSON.stringify(body)));
  }

  async #withConnection(work: (connection: Connection) => Promise<unknown>): Promise<void> {
    const connection = this.#free.pop() ?? (await this.#open());
    await work(connection).finally(() => this.#free.push(connection));
  }
}
