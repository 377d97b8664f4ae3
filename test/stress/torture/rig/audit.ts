/** Checks after a run that each mutation has run once, and that each client holds the server's rows. */
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Result } from '../../../../bench/scenario.js';
import { until } from '../../../integration/conformance/client/client.js';
import { type Address, applied, pull } from '../../../integration/conformance/wire.js';
import { none, some } from '../results.js';
import type { Client } from './client.js';
import { countPoor } from './schema.js';
import type { Tally } from './tally.js';

export interface CheckedRun {
  readonly pool: pg.Pool;
  readonly server: Address;
  readonly clients: readonly Client[];
  readonly tally: Tally;
}

/** The time for a client to have all its mutations confirmed, and then to hold the server's rows. */
const maxWaitMs = 30_000;

export async function checkRun({ pool, server, clients, tally }: CheckedRun): Promise<Result[]> {
  const stuck = await countFailures(clients, ({ sync }) => until(async () => (await sync.pending()) === 0, maxWaitMs));
  const different = await countDifferent(server, clients);
  const effects = await effectsOf(pool, clients);
  const mutations = clients.reduce((sum, client) => sum + client.mutations, 0);
  for (const what of tally.messages) console.error(`  ${what}`);
  return [
    some('mutations', mutations),
    some('pushes delivered twice', tally.doubled),
    none('mutations lost', mutations - effects.distinct),
    none('mutations applied twice', effects.all - effects.distinct),
    none('clients stuck', stuck),
    none('clients that differ from a full read', different),
    none('users whose accounts do not sum up', await countPoor(pool)),
    none('objections', tally.objections + tally.gaps, `to ${tally.pulls} pulls and ${tally.pushes} pushes`),
  ];
}

/** The number of clients that do not reach the rows that a new client of their user receives. */
export async function countDifferent(
  server: Address,
  clients: readonly Client[],
  timeoutMs: number = maxWaitMs,
): Promise<number> {
  const deadline = Date.now() + timeoutMs;
  const truths = new Map<string, object>();
  for (const user of new Set(clients.map((client) => client.user))) truths.set(user, await fullRead(server, user));
  return countFailures(clients, ({ user, sync }) =>
    until(async () => isDeepStrictEqual(await sync.entries(), truths.get(user)), deadline - Date.now()),
  );
}

async function fullRead(server: Address, user: string): Promise<object> {
  const { patch } = await pull(server, user, { clientGroupID: `reader ${user}` });
  return Object.fromEntries(applied(new Map(), patch));
}

export async function countFailures(
  clients: readonly Client[],
  work: (client: Client) => Promise<void>,
): Promise<number> {
  const ends = await Promise.allSettled(clients.map(work));
  return ends.filter(({ status }) => status === 'rejected').length;
}

async function effectsOf(pool: pg.Pool, clients: readonly Client[]): Promise<{ all: number; distinct: number }> {
  const { rows } = await pool.query<{ all: number; distinct: number }>(
    `select count(*)::int as all, count(distinct (client_id, n))::int as distinct
     from effect where client_id = any ($1)`,
    [clients.map(({ id }) => id)],
  );
  return rows[0]!;
}
