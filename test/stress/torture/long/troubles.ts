/** What may go wrong while servers serve, of every kind, for as long as it takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pullBody } from '../../../integration/conformance/wire.js';
import { type ChaosProxy, faults } from '../rig/proxy.js';
import type { Rig } from '../rig/rig.js';

export interface Scene {
  readonly rig: Rig;
  /** One before each server. */
  readonly proxies: readonly ChaosProxy[];
}

type Trouble = (scene: Scene) => Promise<void>;

const longestMs = 3_000;
const requestsOfFlood = 300;

async function badNetwork({ rig: { random }, proxies }: Scene): Promise<void> {
  const proxy = random.pick(proxies);
  proxy.break(random.pick(faults));
  await sleep(random.between(300, longestMs));
  proxy.heal();
}

async function killServer({ rig: { servers } }: Scene): Promise<void> {
  // The first is never killed: its memory is watched.
  const server = servers.at(-1)!;
  await server.kill();
  await server.start();
}

async function restartServer({ rig: { servers } }: Scene): Promise<void> {
  const server = servers.at(-1)!;
  await server.stop();
  await server.start();
}

async function killPostgres({ rig: { postgres } }: Scene): Promise<void> {
  await postgres.kill();
  await postgres.start();
}

function killBackend({ rig: { postgres } }: Scene): Promise<void> {
  return postgres.killBackend();
}

/** Columns come and go, and indexes: clients are reset, or do not notice. */
async function alterTables({ rig: { postgres, random } }: Scene): Promise<void> {
  const table = random.pick(['counter', 'account', 'document']);
  await postgres.pool.query(`set lock_timeout = '2s'; alter table ${table} add column if not exists more int`);
  await postgres.pool.query(`create index if not exists more_${table} on ${table} (more)`);
  await sleep(random.between(0, 500));
  await postgres.pool.query(`alter table ${table} drop column if exists more`);
}

/** Somebody who takes all the time there is for a large first pull. */
async function readSlowly({ rig }: Scene): Promise<void> {
  const reader = (await pullAs(rig, 'reader', 'slow')).body!.getReader();
  for (const end = Date.now() + longestMs; Date.now() < end; ) {
    if ((await reader.read()).done) break;
    await sleep(100);
  }
  await reader.cancel();
}

/** One user asks for more than is allowed. */
async function flood({ rig }: Scene): Promise<void> {
  const pulls = Array.from({ length: requestsOfFlood }, (_, i) =>
    pullAs(rig, 'flooder', `flood ${i}`).then((one) => one.text()),
  );
  await Promise.allSettled(pulls);
}

function pullAs({ servers }: Rig, user: string, clientGroupID: string): Promise<Response> {
  return fetch(`${servers[0]!.url}/sync/pull`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${user}` },
    body: JSON.stringify(pullBody({ clientGroupID })),
  });
}

const troubles: readonly (readonly [weight: number, trouble: Trouble])[] = [
  [6, badNetwork],
  [2, killServer],
  [1, restartServer],
  [2, killPostgres],
  [1, killBackend],
  [1, alterTables],
  [2, readSlowly],
  [2, flood],
];

/** Makes one trouble after the other until the time is over, and returns how many of each there were, by name. */
export async function makeTroubles(scene: Scene, untilMs: number): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  while (performance.now() < untilMs) {
    const trouble = scene.rig.random.weighted(troubles);
    // What meets a database that was killed a moment ago has done what it is for.
    await trouble(scene).catch(() => {});
    counts.set(trouble.name, (counts.get(trouble.name) ?? 0) + 1);
    await sleep(scene.rig.random.between(100, 1_500));
  }
  return counts;
}
