/** Troubles of every kind for running servers, for any length of time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pullBody } from '../../../integration/conformance/wire.js';
import { type ChaosProxy, faults } from '../rig/proxy.js';
import type { Rig } from '../rig/rig.js';

export interface Scene {
  readonly rig: Rig;
  /** One in front of each server. */
  readonly proxies: readonly ChaosProxy[];
}

type Trouble = (scene: Scene) => Promise<void>;

const maxMs = 3_000;
const requestsOfFlood = 300;

async function badNetwork({ rig: { random }, proxies }: Scene): Promise<void> {
  const proxy = random.pick(proxies);
  proxy.break(random.pick(faults));
  await sleep(random.between(300, maxMs));
  proxy.heal();
}

async function killServer({ rig: { servers } }: Scene): Promise<void> {
  // The first server is never killed, because its memory is measured.
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

/** Adds and drops columns and indexes. Clients are reset, or are not affected. */
async function alterTables({ rig: { postgres, random } }: Scene): Promise<void> {
  const table = random.pick(['counter', 'account', 'document']);
  await postgres.pool.query(`set lock_timeout = '2s'; alter table ${table} add column if not exists more int`);
  await postgres.pool.query(`create index if not exists more_${table} on ${table} (more)`);
  await sleep(random.between(0, 500));
  await postgres.pool.query(`alter table ${table} drop column if exists more`);
}

/** A client that takes the maximum time for a large first pull. */
async function readSlowly({ rig }: Scene): Promise<void> {
  const reader = (await pullAs(rig, 'reader', 'slow')).body!.getReader();
  for (const end = Date.now() + maxMs; Date.now() < end; ) {
    if ((await reader.read()).done) break;
    await sleep(100);
  }
  await reader.cancel();
}

/** One user sends more requests than are allowed. */
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

/** Makes one trouble after the other until the time is over. Returns the number of each, by name. */
export async function makeTroubles(scene: Scene, untilMs: number): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  while (performance.now() < untilMs) {
    const trouble = scene.rig.random.weighted(troubles);
    // A trouble that fails because the database was just killed has served its purpose.
    await trouble(scene).catch(() => {});
    counts.set(trouble.name, (counts.get(trouble.name) ?? 0) + 1);
    await sleep(scene.rig.random.between(100, 1_500));
  }
  return counts;
}
