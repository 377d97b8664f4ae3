import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../../../../bench/processes.js';
import type { Result } from '../../../../bench/scenario.js';
import { mutation, pull, push } from '../../../integration/conformance/wire.js';
import { attacks, type Order } from '../attacks.js';
import type { Line } from '../line.js';
import { atMostOf, none, some } from '../results.js';
import { judgeLeftBehind } from '../rig/left-behind.js';
import { type Rig, withRig } from '../rig/rig.js';
import type { Server } from '../rig/server.js';

const sizes = {
  full: { rows: 100_000, times: 50, seconds: 10, streams: 3_000 },
  short: { rows: 30_000, times: 12, seconds: 2, streams: 200 },
};

/** The longest time that another user's push or small pull may take. */
const maxMs = 1_000;
const memoryMB = 700;

export const hostileUser: Line = {
  line: 'abuse',
  title: 'One user attacks the server in many ways, one after the other, while another user pushes and pulls',
  pass: "no push or small pull of the other user is refused or takes longer than a second, the server's memory is bounded, and the server releases what it held",
  minutes: 4,
  async run(torture) {
    const size = sizes[torture.size];
    const run = async ({ servers: [server], postgres }: Rig): Promise<Result[]> => {
      await postgres.pool.query(
        `insert into document select n, 'ann', repeat('x', 200) from generate_series(1, $1::int) n`,
        [size.rows],
      );
      await postgres.pool.query('analyze document');
      const results: Result[] = [];
      for (const name of Object.keys(attacks)) {
        torture.progress(name);
        const attacker = await startProcess(new URL('../attacker.ts', import.meta.url).href, '');
        await attacker.ask<object>({ name, url: server!.url, ...size } satisfies Order);
        const { served, refused, slowestMs } = await serveBob(server!, name, size.seconds);
        const { rssMB } = await server!.state();
        await attacker.stop();
        results.push(
          some(`during ${name}: pushes and pulls of another user`, served, 1),
          none(`during ${name}: refused`, refused),
          atMostOf(`during ${name}: slowest`, slowestMs, 'ms', maxMs),
          atMostOf(`during ${name}: the server's memory`, rssMB, 'MB', memoryMB),
        );
      }
      return [...results, await judgeLeftBehind('held by the server once the attacks are over', [server!])];
    };
    return { results: await withRig(torture, run, { servers: 1 }) };
  },
};

/** Sends pushes and small pulls of another user, one after the other, for some time. */
async function serveBob(server: Server, name: string, seconds: number) {
  const group = { clientGroupID: `bob beside ${name}` };
  const client = `bob beside ${name}`;
  let [served, refused, slowestMs] = [0, 0, 0];
  const timed = async <T>(work: Promise<T>): Promise<T | undefined> => {
    const started = performance.now();
    const result = await work.catch(() => undefined);
    slowestMs = Math.max(slowestMs, performance.now() - started);
    return result;
  };
  let { cookie } = await pull(server, 'bob', group);
  const end = performance.now() + seconds * 1_000;
  for (let n = 1; performance.now() < end; n++) {
    const pushed = await timed(push(server, 'bob', [mutation(n, 'count', { clientID: client, n }, client)], group));
    const answer = await timed(pull(server, 'bob', { ...group, cookie }));
    if (answer) ({ cookie } = answer);
    refused += (pushed?.status === 200 ? 0 : 1) + (answer ? 0 : 1);
    served += 2;
    await sleep(5);
  }
  return { served, refused, slowestMs };
}
