import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../../../bench/scenario.js';
import { LargePull } from '../../conformance/large-pulls.js';
import { mutation, pull, pullBody, push, pushBody, send } from '../../conformance/wire.js';
import type { Line } from '../line.js';
import { atMostOf, none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';
import type { Server } from '../rig/server.js';

const sizes = {
  full: { rows: 100_000, times: 50, seconds: 10, streams: 3_000 },
  short: { rows: 5_000, times: 12, seconds: 1, streams: 200 },
};
type Size = (typeof sizes)['full'];

/** How long another user's push or small pull may take. */
const longestMs = 1_000;
const memoryMB = 700;
const MiB = 1024 * 1024;

/** What `ann` does to a server, until the signal aborts. */
type Attack = (server: Server, size: Size, signal: AbortSignal) => Promise<unknown>;

const attacks: Readonly<Record<string, Attack>> = {
  async 'first pulls that are not read'(server, { times }, signal) {
    const pulls = Array.from({ length: times }, (_, i) => new LargePull(server, `large ${i}`));
    await aborted(signal);
    for (const one of pulls) one.giveUp();
  },
  async 'first pulls that are given up'(server, { times }, signal) {
    for (let round = 0; !signal.aborted; round++) {
      const pulls = Array.from({ length: times }, (_, i) => new LargePull(server, `gone ${round} ${i}`));
      await sleep(50);
      for (const one of pulls) one.giveUp();
    }
  },
  async 'large pushes'(server, { times }, signal) {
    const body = JSON.stringify(pushBody([])).padEnd(4 * MiB);
    await each(times, signal, () => send(server, '/sync/push', body));
  },
  async 'deep pushes'(server, { times }, signal) {
    const deep = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`);
    const body = JSON.stringify(pushBody([mutation(1, 'unknown', Array(10_000).fill(deep))]));
    await each(times, signal, () => send(server, '/sync/push', body));
  },
  async 'mutators that hang'(server, { times }, signal) {
    const pushes = Array.from({ length: times }, (_, i) => {
      const body = pushBody([mutation(1, 'hang', null, `hangs ${i}`)], { clientGroupID: `hangs ${i}` });
      return send(server, '/sync/push', body, { signal }).catch(() => {});
    });
    await Promise.all(pushes);
  },
  async 'streams of pokes'(server, { streams }, signal) {
    const open = Array.from({ length: streams }, (_, i) =>
      fetch(`${server.url}/sync/poke?clientGroupID=s${i}&profileID=p`, {
        headers: { Authorization: 'Bearer ann' },
        signal,
      }).catch(() => {}),
    );
    await Promise.all(open);
    await aborted(signal);
  },
  async 'pulls, as fast as they come'(server, { times }, signal) {
    await each(times, signal, () =>
      send(server, '/sync/pull', pullBody({ clientGroupID: 'flood', cookie: { order: 1 } })),
    );
  },
};

export const hostileUser: Line = {
  line: 'abuse',
  title: 'One user does whatever they can, one thing after the other, while another one pushes and pulls',
  pass: "no push or small pull of the other user is refused or takes longer than a second, and the server's memory is bounded",
  minutes: 2,
  async run(torture) {
    const size = sizes[torture.size];
    const run = async ({ servers: [server], postgres }: Rig): Promise<Result[]> => {
      await postgres.pool.query(
        `insert into document select n, 'ann', repeat('x', 200) from generate_series(1, $1::int) n`,
        [size.rows],
      );
      await postgres.pool.query('analyze document');
      const results: Result[] = [];
      for (const [name, attack] of Object.entries(attacks)) {
        torture.progress(name);
        const controller = new AbortController();
        const attacking = attack(server!, size, controller.signal);
        const { served, refused, slowestMs } = await serveBob(server!, name, size.seconds);
        const { rssMB } = await server!.state();
        controller.abort();
        await attacking;
        results.push(
          some(`beside ${name}: pushes and pulls of another user`, served, 1),
          none(`beside ${name}: refused`, refused),
          atMostOf(`beside ${name}: slowest`, slowestMs, 'ms', longestMs),
          atMostOf(`beside ${name}: the server's memory`, rssMB, 'MB', memoryMB),
        );
      }
      return results;
    };
    return { results: await withRig(torture, run, { servers: 1 }) };
  },
};

/** Pushes and small pulls of another user, one after the other, for some time. */
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

/** Does something at so many places at once, again and again. */
async function each(places: number, signal: AbortSignal, once: () => Promise<unknown>): Promise<void> {
  const again = async () => {
    while (!signal.aborted) await once().catch(() => {});
  };
  await Promise.all(Array.from({ length: places }, again));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}
