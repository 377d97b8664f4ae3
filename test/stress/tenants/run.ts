/**
 * A thousand tenants in one server, and the effect on the others when one is flooded, locked, dead or hangs.
 *
 *   npm run stress -- tenants                                   everything, in 15 minutes, with 10 GB of temp files
 *   npm run stress -- tenants --tenants 60 --busy 10 --seconds 5
 */
import { type AddressInfo, createServer } from 'node:net';
import { constants, cpus, setPriority, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { atMost, isMet } from '../../../bench/goal.js';
import { type ServerState, startProcess } from '../../../bench/processes.js';
import { printTable } from '../../../bench/report/table.js';
import type { Result } from '../../../bench/scenario.js';
import { quantile } from '../../../bench/statistics.js';
import { Postgres } from '../torture/rig/postgres.js';
import { createCopies, createFirst } from './databases.js';
import { Load, TenantClient } from './load.js';

const { values } = parseArgs({
  options: {
    tenants: { type: 'string', default: '1000' },
    busy: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    flood: { type: 'string', default: '500' },
    idle: { type: 'string', default: '300' },
  },
});
const [count, busy, seconds] = [values.tenants, values.busy, values.seconds].map(Number) as [number, number, number];
/** The number of alternating measurements with and without trouble, because the machine's speed varies. */
const rounds = Number(values.rounds);
/** The maximum slowdown of the other tenants. A flood keeps the process and its database busy. */
const maxSlowdown = { flood: 3, other: 1.5 };
const idleSeconds = 10;
/** Until every tenant has its connections and statement plans again. */
const warmUpMs = 15_000;
/** Until the after-effects of a flood have ended. */
const afterEffectsMs = 2_000;
/** The number of tenants to open at the same time. */
const parallel = 20;

const results: Result[] = [];
const started = performance.now();
const progress = (message: string) =>
  console.error(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${message}`);
const report = (name: string, value: number, unit: string, more: Partial<Result> = {}) =>
  results.push({ name, value, unit, ...more });

const names = Array.from({ length: count }, (_, i) => `tenant_${i}`);

progress('starting two clusters');
const cluster = await Postgres.start();
const other = await Postgres.start();
const silence = createServer().listen(0, '127.0.0.1');
progress(`creating ${count} databases`);
await createFirst(cluster.url, 'template');
await createCopies(cluster.url, 'template', [...names, 'flooded', 'locked']);
await createFirst(other.url, 'dead');

const addressOf = (url: string, name: string) => Object.assign(new URL(url), { pathname: name }).href;
const addresses = {
  dead: addressOf(other.url, 'dead'),
  hangs: `postgres://nobody@127.0.0.1:${(silence.address() as AddressInfo).port}/none`,
};
const serverEnv = { ADDRESSES: JSON.stringify(addresses), IDLE_MS: String(1000 * Number(values.idle)) };
// See docs/operations/servers.md: on two cores, four garbage collection threads slow everything else.
const server = await startProcess('tenants.mjs', cluster.url, serverEnv, ['--v8-pool-size=0']);
// The measuring process must not wait for the processor. Only root can raise its priority.
if (process.getuid?.() === 0) setPriority(constants.priority.PRIORITY_HIGH);
const state = () => server.ask<Pick<ServerState, 'rssMB' | 'heapMB' | 'cpuMs'>>({});
/** Client sessions only, because autovacuum visits ten databases a second in such a cluster. */
const sessions = async () => {
  const { rows } = await cluster.pool.query<{ count: string }>(
    `select sum(sessions) as count from pg_stat_database where datname like 'tenant%'`,
  );
  return Number(rows[0]!.count);
};
const connections = async () =>
  (await cluster.pool.query(`select from pg_stat_activity where application_name = 'tidemark'`)).rowCount!;

try {
  await openAll();
  await idle();
  const clients = await Promise.all(names.slice(0, busy).map((name) => TenantClient.open(server.url, name)));
  progress(`${busy} tenants are busy`);
  const load = new Load(clients);
  await sleep(warmUpMs);
  await during('flood', load, { tenant: 'flooded', connections: Number(values.flood) });
  await lock(load);
  await kill(load);
  await during('database that never answers', load, { tenant: 'hangs' });
  await load.stop();
  for (const client of clients) client.close();
  await closed();
} finally {
  // The results until something failed.
  printTable(results);
  await server.stop();
  silence.close();
  await other.remove();
  await cluster.remove();
}
console.log(
  `\n${count} tenants, ${busy} of them busy; ${cpus().length} × ${cpus()[0]!.model}, ` +
    `${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}; Postgres without fsync, on the same machine`,
);
process.exit(results.some((result) => isMet(result) === false) ? 1 : 0);

async function openAll(): Promise<void> {
  // The first request pays for one-time loading.
  await pullOnce('flooded');
  const before = await state();
  const [begin, times] = [performance.now(), [] as number[]];
  const left = names.values();
  const worker = async () => {
    for (const name of left) {
      const client = await TenantClient.open(server.url, name);
      const began = performance.now();
      await client.pull();
      times.push(performance.now() - began);
      client.close();
    }
  };
  progress(`opening ${count} tenants`);
  await Promise.all(Array.from({ length: parallel }, worker));
  const after = await state();
  report('opening all, for each', (performance.now() - begin) / count, 'ms', { note: `${parallel} at once` });
  report("opening all, the server's CPU for each", (after.cpuMs - before.cpuMs) / count, 'ms');
  report('opening all, the first pull, p99', quantile(times, 0.99), 'ms');
  report('memory of an open tenant, heap', ((after.heapMB - before.heapMB) / count) * 1024, 'kB');
  report('memory of an open tenant, resident', ((after.rssMB - before.rssMB) / count) * 1024, 'kB');
  report('connections when all are open', await connections(), '', { goals: [atMost(100)] });
}

/** Without requests, the server does no work for open tenants. */
async function idle(): Promise<void> {
  progress('all are open, and nobody asks');
  while ((await connections()) > 0) await sleep(500);
  const [before, sessionsBefore] = [await state(), await sessions()];
  await sleep(1000 * idleSeconds);
  const [after, sessionsAfter] = [await state(), await sessions()];
  report('idle, connections opened a second', (sessionsAfter - sessionsBefore) / idleSeconds, '', {
    goals: [atMost(0)],
  });
  report("idle, the server's CPU a second", (after.cpuMs - before.cpuMs) / idleSeconds, 'ms');
}

/** Repeatedly measures the other tenants before one tenant is flooded, and during the flood. */
async function during(
  what: string,
  load: Load,
  { tenant, connections = 100, happen = async () => async () => {} }: Trouble,
): Promise<void> {
  const script = new URL('flood.ts', import.meta.url).href;
  const flooding = await startProcess(script, server.url, { TENANT: tenant, CONNECTIONS: String(connections) });
  const [before, meanwhile]: [number[], number[]] = [[], []];
  const failed = load.failures.length;
  let note = '';
  for (let round = 1; round <= rounds; round++) {
    progress(`${what}, round ${round}`);
    before.push(...(await load.measure(seconds)));
    const end = await happen();
    await flooding.ask({});
    meanwhile.push(...(await load.measure(seconds)));
    await end();
    note = JSON.stringify(await flooding.ask({}));
    await sleep(afterEffectsMs);
  }
  await flooding.stop('SIGKILL');
  const limitName = 'before';
  const [was, is] = [before, meanwhile].map((times) => quantile(times, 0.99)) as [number, number];
  const goals = [
    { of: 'ratio', is: 'at most', bound: what === 'flood' ? maxSlowdown.flood : maxSlowdown.other } as const,
  ];
  report(`${what}, others p50`, quantile(meanwhile, 0.5), 'ms', { limit: quantile(before, 0.5), limitName });
  report(`${what}, others p99`, is, 'ms', { limit: was, limitName, ratio: is / was, goals, note });
  report(`${what}, others' requests that failed`, load.failures.length - failed, '', {
    goals: [atMost(0)],
    note: load.failures[failed] ?? '',
  });
}

interface Trouble {
  readonly tenant: string;
  readonly connections?: number;
  /** Starts additional trouble, and returns a function that ends it. */
  readonly happen?: () => Promise<() => Promise<unknown>>;
}

async function pullOnce(tenant: string): Promise<void> {
  const client = await TenantClient.open(server.url, tenant);
  await client.pull();
  client.close();
}

async function lock(load: Load): Promise<void> {
  const holder = new pg.Client({ connectionString: addressOf(cluster.url, 'locked') });
  await holder.connect();
  await pullOnce('locked');
  await during('lock', load, {
    tenant: 'locked',
    async happen() {
      await holder.query('begin; lock table note in access exclusive mode');
      return () => holder.query('rollback');
    },
  });
  await holder.end();
}

async function kill(load: Load): Promise<void> {
  await pullOnce('dead');
  await during('dead database', load, {
    tenant: 'dead',
    async happen() {
      await other.kill();
      return () => other.start();
    },
  });
}

/** Idle tenants are closed, and leave nothing behind. */
async function closed(): Promise<void> {
  progress('until all have been closed');
  const openNow = async () => {
    const answer = await fetch(`${server.url}/readyz`);
    return ((await answer.json()) as { tenants: { open: number } }).tenants.open;
  };
  while ((await openNow()) > 0 || (await connections()) > 0) await sleep(500);
  const { heapMB, rssMB } = await state();
  report('all closed, heap', heapMB, 'MB');
  report('all closed, resident', rssMB, 'MB');
  report('all closed, connections', await connections(), '', { goals: [atMost(0)] });
}
