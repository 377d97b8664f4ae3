import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../../../../bench/processes.js';
import type { Result } from '../../../../bench/scenario.js';
import type { Arrivals, Order } from '../../../../bench/servers/listeners.js';
import { quantile } from '../../../../bench/statistics.js';
import { mutation, pull, push } from '../../../integration/conformance/wire.js';
import type { Line } from '../line.js';
import { atMostOf, figure, none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';
import type { Server } from '../rig/server.js';

const sizes = {
  full: { stalled: 100, streams: 5_000, writes: 1_000 },
  short: { stalled: 20, streams: 200, writes: 20 },
};
const users = 100;
/** On the heap: a stream takes about 16 kB, even if it is not read. */
const streamsMB = 100;
const unreadMB = 10;
const pullMs = 250;

export const stalledReaders: Line = {
  line: '15',
  title: '100 clients that never read their poke streams, and 5,000 streams of 100 users, all poked by one write',
  pass: "each stream is poked; the server's memory and the duration of concurrent pulls are bounded",
  minutes: 4,
  async run(torture) {
    const { stalled, streams, writes } = sizes[torture.size];
    const run = async ({ servers: [server], postgres }: Rig): Promise<Result[]> => {
      await postgres.pool.query(
        `insert into document select u, 'user' || u, '' from generate_series(0, $1::int - 1) u`,
        [users],
      );
      const before = await server!.state();
      const sockets = await Promise.all(Array.from({ length: stalled }, (_, i) => openStalled(server!, i)));
      const loader = await startProcess('listeners.ts', '');
      const order = <Answer>(one: Order) => loader.ask<Answer>(one);
      try {
        const listening = Array.from({ length: streams }, (_, i) => `user${i % users}`);
        await order({ do: 'open', url: server!.url, users: listening, pulls: false });
        torture.progress(`${streams} streams`);
        const open = await server!.state();
        await order({ do: 'reset' });
        await postgres.pool.query(`update document set body = body || '.'`);
        const { pokes } = await order<Arrivals>({ do: 'await', pokes: streams });
        const pulls = await pullBeside(server!, writes);
        const after = await server!.state();
        return [
          some('streams', streams + stalled, streams + stalled),
          none('streams that were not poked', Math.max(0, streams - pokes.length)),
          some('writes, each of which pokes one user', writes, writes),
          atMostOf("growth of the server's heap by the streams", open.heapMB - before.heapMB, 'MB', streamsMB),
          atMostOf('growth of the heap by unread pokes', after.heapMB - open.heapMB, 'MB', unreadMB),
          figure("the server's memory at the end", after.rssMB, 'MB'),
          atMostOf('pull while the streams are open, p99', quantile(pulls, 0.99), 'ms', pullMs),
        ];
      } finally {
        for (const socket of sockets) socket.destroy();
        await loader.stop();
      }
    };
    return { results: await withRig(torture, run, { servers: 1 }) };
  },
};

/** Opens a stream and reads only its first bytes. */
async function openStalled({ url }: Server, number: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  socket.write(
    `GET /sync/poke?clientGroupID=stalled${number}&profileID=p HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer user0\r\n\r\n`,
  );
  await once(socket, 'readable');
  return socket;
}

/** The durations of a user's pulls in milliseconds, each after a write that pokes all the user's streams. */
async function pullBeside(server: Server, writes: number): Promise<number[]> {
  const group = { clientGroupID: 'writer' };
  let { cookie } = await pull(server, 'user0', group);
  const times: number[] = [];
  for (let n = 1; n <= writes; n++) {
    await push(server, 'user0', [mutation(n, 'count', { clientID: 'writer', n }, 'writer')], group);
    const started = performance.now();
    ({ cookie } = await pull(server, 'user0', { ...group, cookie }));
    times.push(performance.now() - started);
    await sleep(10);
  }
  return times;
}
