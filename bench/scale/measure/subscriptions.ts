/** Measures the costs of streams, and of writes that subscribers are poked about. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pusher } from '../../client/pusher.js';
import { type Recorder, repeat } from './recorder.js';
import { documentOf, members, userOf } from './teams.js';

/** The number of subscribers in the phases with few cohorts. All of them can be in one team. */
export const fewSubscribers = members;
/** The number of rows that a transaction changes in the phases with many. */
export const manyRows = 8;

export interface SubscriptionCounts {
  /** The number of subscribers in the phases with many cohorts. */
  readonly subscribers: number;
  readonly writes: number;
  readonly holdSeconds: number;
}

/** Writes several rows of a team without subscribers in one transaction. */
export async function measureRowsWritten(recorder: Recorder, team: number, writes: number): Promise<void> {
  const write = () => writeRows(recorder, team);
  await repeat(20, write);
  await recorder.phase('rows written', writes, () => repeat(writes, write));
}

/** Leaves the streams open. None of their users is in the last team. */
export async function measureStreams(
  recorder: Recorder,
  { subscribers, holdSeconds }: SubscriptionCounts,
): Promise<void> {
  const users = Array.from({ length: subscribers }, (_, i) => userOf(1 + Math.floor(i / members), i % members));
  const openAll = () => open(recorder, users, { pulls: false });
  // Code is slow until it has run many times.
  await openAll();
  await close(recorder);
  await recorder.phase('open streams', subscribers, openAll);
  await recorder.phase('hold streams', 1, () => sleep(1000 * holdSeconds));
}

/**
 * Runs after `measureStreams`.
 * @param team The team that `writer` writes to. It has no subscribers yet.
 */
export async function measureChanges(
  recorder: Recorder,
  writer: Pusher,
  team: number,
  { subscribers, writes }: SubscriptionCounts,
): Promise<void> {
  const push = () => writer.push();
  await open(recorder, [userOf(team, 0)], { pulls: false, from: subscribers });
  await recorder.writes('many cohorts, one poke', 'many', writes, push);
  await recorder.writes('many cohorts, many rows', 'many', writes, () => writeRows(recorder, team));
  await close(recorder);
  for (const [name, affected, pulls] of [
    ['few cohorts, one poke', 1, false],
    ['few cohorts, all poked', fewSubscribers, false],
    ['few cohorts, one pull', 1, true],
    ['few cohorts, all pull', fewSubscribers, true],
  ] as const) {
    const users = Array.from({ length: fewSubscribers }, (_, i) => userOf(i < affected ? team : 1, i));
    await open(recorder, users, { pulls });
    await recorder.writes(name, 'few', writes, push);
    await close(recorder);
  }
}

async function writeRows({ deployment }: Recorder, team: number): Promise<void> {
  const ids = Array.from({ length: manyRows }, (_, i) => documentOf(team, 10 + i));
  await deployment.pool.query('update doc set title = $1 where id = any($2)', [`Changed ${Math.random()}`, ids]);
}

function open(
  { deployment }: Recorder,
  users: readonly string[],
  options: { readonly pulls: boolean; readonly from?: number },
): Promise<unknown> {
  return deployment.order({ do: 'open', url: deployment.serverURL, users, ...options });
}

async function close({ deployment }: Recorder): Promise<void> {
  await deployment.order({ do: 'close' });
  await sleep(500);
}
