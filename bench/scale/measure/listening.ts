/** Measures what streams cost, and what a write that subscribers are poked about costs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientGroup } from '../../client/client-group.js';
import type { Pusher } from '../../client/pusher.js';
import type { ServerState } from '../../processes.js';
import { type Recorder, times } from './recorder.js';
import { bytesOf, type Open } from './requests.js';
import { documentOf, members, userOf } from './teams.js';

/** The number of subscribers in the phases with few cohorts: the size of a team. */
export const fewSeats = members;
/** The number of rows that a transaction changes in the phase with many. */
export const manyRows = 8;

export interface ListeningCounts {
  readonly seats: number;
  readonly writes: number;
  readonly heldSeconds: number;
}

/** Subscribers, none of them in the last team. */
const usersOf = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => userOf(1 + Math.floor(i / members), i % members));

/** Needs a server that has done nothing yet. @returns the memory of a stream, in kB */
export async function measureStreamMemory(
  recorder: Recorder,
  seats: number,
): Promise<{ serverMB: number; streamKB: number }> {
  const [server] = recorder.stage.servers;
  const before = await server!.ask<ServerState>({});
  await open(recorder, usersOf(seats), false);
  const after = await server!.ask<ServerState>({});
  await close(recorder);
  return { serverMB: before.rssMB, streamKB: (1024 * (after.rssMB - before.rssMB)) / seats };
}

/** Writes several rows of a team without subscribers in one transaction. */
export async function measureRowsWritten(recorder: Recorder, team: number, writes: number): Promise<void> {
  await times(20, () => writeRows(recorder, team));
  await recorder.phase('rows written', writes, () => times(writes, () => writeRows(recorder, team)));
}

/** Leaves the streams open. */
export async function measureHeld(recorder: Recorder, { seats, heldSeconds }: ListeningCounts): Promise<void> {
  await recorder.phase('open', seats, () => open(recorder, usersOf(seats), false));
  await recorder.phase('held open', 1, () => sleep(1000 * heldSeconds));
}

/**
 * Runs after `measureHeld`.
 * @param team The team that `writer` writes to. It has no subscribers yet.
 */
export async function measureListening(
  recorder: Recorder,
  writer: Pusher,
  team: number,
  { seats, writes }: ListeningCounts,
): Promise<void> {
  const push = () => writer.push();
  await open(recorder, [userOf(team, 0)], false, seats);
  await recorder.inTurn('many seats, one poke', 'many', writes, push);
  await recorder.inTurn('many seats, many rows', 'many', writes, () => writeRows(recorder, team));
  await close(recorder);
  for (const [name, concerned, pulls] of [
    ['few seats, one poke', 1, false],
    ['few seats, all poked', fewSeats, false],
    ['few seats, one pull', 1, true],
    ['few seats, all pull', fewSeats, true],
  ] as const) {
    const users = Array.from({ length: fewSeats }, (_, i) => userOf(i < concerned ? team : 1, i));
    await open(recorder, users, pulls);
    await recorder.inTurn(name, 'few', writes, push);
    await close(recorder);
  }
}

/** @returns the bytes of a pull of one changed row */
export async function measureDeltaBytes(
  recorder: Recorder,
  writer: Pusher,
  team: number,
  connect: Open,
): Promise<number> {
  const connection = await connect(recorder.stage.servers[0]!.url);
  const group = new ClientGroup(connection, userOf(team, 0), 'delta');
  await group.pull();
  await writer.push();
  // A standby shows the write a little later.
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; await sleep(20)) {
    let hasOps = false;
    const bytes = await bytesOf(connection, async () => {
      hasOps = /"patch":\[\s*\{/.test((await group.pull()).body);
    });
    if (hasOps) return bytes;
  }
  throw new Error('a change was not pulled within ten seconds');
}

async function writeRows({ stage }: Recorder, team: number): Promise<void> {
  const ids = Array.from({ length: manyRows }, (_, i) => documentOf(team, 10 + i));
  await stage.pool.query('update doc set title = $1 where id = any($2)', [`Changed ${Math.random()}`, ids]);
}

function open({ stage }: Recorder, users: readonly string[], pulls: boolean, from = 0): Promise<unknown> {
  return stage.loaders[0]!.order({ do: 'open', url: stage.servers[0]!.url, users, pulls, from });
}

async function close({ stage }: Recorder): Promise<void> {
  await stage.loaders[0]!.order({ do: 'close' });
  await sleep(500);
}
