/** Measures how long a request blocks the event loop, during which the server answers nothing else. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientGroup } from '../client/client-group.js';
import { type Connection, Refusal } from '../client/connection.js';
import { todoOf, userOf } from '../database.js';
import { atMost } from '../goal.js';
import { type ServerState, startServer } from '../processes.js';
import { type Bench, type Result, short, withConnections } from '../scenario.js';

const MiB = 2 ** 20;
const boundMs = 50;
const mutator = 'todo.rename';

export async function eventLoop(bench: Bench): Promise<Result[]> {
  const server = await startServer(bench.databaseURL, { application: 'todos' });
  try {
    return await withConnections(async (open) => {
      const results: Result[] = [];
      for (const [name, request] of Object.entries(requestsOf(bench))) {
        let longest = 0;
        for (let round = 0; round < (bench.isQuick ? 2 : 6); round++) {
          const connection = await open(server.url);
          const send = await request(connection, round);
          await server.ask<ServerState>({ watch: true });
          await send().catch((error: unknown) => {
            if (!(error instanceof Refusal) || error.status >= 500) throw error;
          });
          await sleep(10);
          longest = Math.max(longest, (await server.ask<ServerState>({})).blockedMs);
        }
        results.push({ name: `${name}, longest turn`, value: longest, unit: 'ms', goals: [atMost(boundMs)] });
      }
      return results;
    });
  } finally {
    await server.stop();
  }
}

/** Prepares a request, and returns the function that sends it. */
type Request = (connection: Connection, round: number) => Promise<() => Promise<unknown>>;

function requestsOf({ pool, sizes }: Bench): Readonly<Record<string, Request>> {
  const size = sizes.findLast((candidate) => candidate <= 100_000)!;
  const user = userOf(size);
  const post =
    (path: string, bodyOf: (round: number) => string): Request =>
    async (connection, round) => {
      const body = bodyOf(round);
      return () => connection.post(path, user, body);
    };
  const push = (mutationsOf: () => readonly unknown[]) =>
    post('/sync/push', (round) => {
      const clientID = `turn${round}.${Math.random()}`;
      const mutations = mutationsOf().map((args, i) => ({ clientID, id: i + 1, name: mutator, args, timestamp: 0 }));
      const group = { profileID: 'p', clientGroupID: clientID, pushVersion: 1, schemaVersion: '' };
      return JSON.stringify({ ...group, mutations });
    });
  const changed =
    (count: number): Request =>
    async (connection, round) => {
      const group = new ClientGroup(connection, user, `turn${count}.${round}`);
      await group.pull();
      await pool.query('update todo set title = $2 where id <= $1 and id >= $3', [
        todoOf(size, count),
        `Turn ${Math.random()}`,
        todoOf(size, 1),
      ]);
      return () => group.pull();
    };
  const nothing = { id: 'none', title: '' };
  const large = (bytes: number) => ({ id: 'none', title: 'x'.repeat(bytes) });
  const deep = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`);
  return {
    [`first pull of ${short(size)} rows`]: async (connection, round) => {
      const group = new ClientGroup(connection, user, `turn${round}`);
      return () => group.pull();
    },
    [`first pull of ${short(size)} rows, compressed`]: async (connection, round) => {
      const group = new ClientGroup(connection, user, `turn${round}`);
      return () => group.repeat({ headers: 'Accept-Encoding: gzip, br, zstd\r\n' });
    },
    'pull of 9,000 changed rows': changed(9_000),
    'pull of 50,000 changed rows': changed(50_000),
    'pull with a cookie of 900 kB': post('/sync/pull', () =>
      JSON.stringify({
        profileID: 'p',
        clientGroupID: 'turn',
        cookie: { order: 1, snapshot: '1:2:'.padEnd(900_000, '1,') },
        pullVersion: 1,
        schemaVersion: '',
      }),
    ),
    'push of 10,000 mutations': push(() => Array(10_000).fill(nothing)),
    'push of 4 MB of text': push(() => [large(4e6)]),
    'push of 150,000 nested arrays': push(() => [{ id: 'none', title: Array(1_500).fill(deep) }]),
    'push of 4 MiB that is not JSON': post('/sync/push', () => '['.repeat(4 * MiB)),
    'batch of 1,000 calls': post('/api/mutators', () =>
      JSON.stringify(Array(1_000).fill({ name: mutator, args: nothing })),
    ),
    'call with 1 MB of text': post(`/api/mutators/${mutator}`, () => JSON.stringify(large(1e6))),
  };
}
