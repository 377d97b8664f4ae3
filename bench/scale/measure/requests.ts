/** Measures what pushes and pulls cost without subscribers. */
import { ClientGroup, pullOps } from '../../client/client-group.js';
import type { Connection } from '../../client/connection.js';
import { Pusher } from '../../client/pusher.js';
import type { ServerState } from '../../processes.js';
import type { Traffic } from './costs.js';
import type { ListeningCounts } from './listening.js';
import { type Recorder, times } from './recorder.js';
import { documentOf, documents, manyDocuments, members, userOf } from './teams.js';

const writers = 8;
const atOnce = 64;

/** The number of repetitions of each operation. */
export interface RequestCounts {
  readonly pushes: number;
  readonly firstPulls: number;
  readonly unchanged: number;
  /** The number of new client groups. */
  readonly groups: number;
}

export type Open = (url: string) => Promise<Connection>;

/** Opens a client of a team other than the large one. */
export async function writerFor({ stage }: Recorder, open: Open, team: number, i: number): Promise<Pusher> {
  const options = { user: userOf(team, i), id: `writer${i}`, mutator: 'doc.rename', row: documentOf(team, i) };
  return new Pusher(await open(stage.writer.url), options);
}

export async function measurePushes(
  recorder: Recorder,
  open: Open,
  team: number,
  { pushes: count, writes }: Pick<RequestCounts, 'pushes'> & Pick<ListeningCounts, 'writes'>,
): Promise<number> {
  const all = await Promise.all(Array.from({ length: writers }, (_, i) => writerFor(recorder, open, team, i)));
  // Code is slow until it has run many times.
  await times(300, (i) => all[i % writers]!.push());
  await recorder.phase('push', count, () =>
    Promise.all(all.map((writer) => times(Math.ceil(count / writers), () => writer.push()))),
  );
  await recorder.inTurn('push, one by one', 'few', writes, () => all[0]!.push());
  const connection = await open(recorder.stage.writer.url);
  const one = await writerFor(recorder, async () => connection, team, writers);
  return bytesOf(connection, () => one.push());
}

/** @returns the bytes of a row */
export async function measureFirstPulls(recorder: Recorder, open: Open, teams: number, count: number): Promise<number> {
  const connection = await open(recorder.stage.servers[0]!.url);
  let n = 0;
  const pull = async (user: string, rows: number) =>
    (await pullOps(new ClientGroup(connection, user, `first ${n++}`), rows)).bytes;
  const few = () => pull(userOf(1 + (n % teams), n % members), documents);
  const many = () => pull(userOf(0, 0), manyDocuments);
  await times(50, few);
  await times(5, many);
  const bytes = (await many()) - (await few());
  await recorder.phase('first, few rows', 5 * count, () => times(5 * count, few));
  await recorder.phase('first, many rows', count, () => times(count, many));
  return bytes / (manyDocuments - documents);
}

export async function measureUnchanged(
  recorder: Recorder,
  open: Open,
  { unchanged: count, groups: known }: RequestCounts,
): Promise<{ bytes: number; groupKB: number }> {
  const [server] = recorder.stage.servers;
  const connections = await Promise.all(Array.from({ length: atOnce }, () => open(server!.url)));
  const before = await server!.ask<ServerState>({});
  const groupOf = (i: number) =>
    new ClientGroup(connections[i % atOnce]!, userOf(1 + Math.floor(i / members), i % members), `idle ${i}`);
  const groups = Array.from({ length: known }, (_, i) => groupOf(i));
  const lanes = connections.map((_, lane) => groups.filter((_, i) => i % atOnce === lane));
  await Promise.all(lanes.map((lane) => times(lane.length, (i) => lane[i]!.pull())));
  const after = await server!.ask<ServerState>({});
  const alone = Math.ceil(count / 4);
  const bytes = await bytesOf(connections[0]!, () => groups[0]!.pull());
  await recorder.phase('unchanged, together', count, () =>
    Promise.all(lanes.map((lane) => times(Math.ceil(count / atOnce), (i) => lane[i % lane.length]!.pull()))),
  );
  // Last, because a server closes idle connections if this takes long.
  await recorder.phase('unchanged, one by one', alone, () =>
    times(alone, (i) => lanes[0]![i % lanes[0]!.length]!.pull()),
  );
  return { bytes, groupKB: (1024 * (after.heapMB - before.heapMB)) / known };
}

/** The bytes of a request on its connection, in both directions. */
export async function bytesOf(connection: Connection, request: () => Promise<unknown>): Promise<Traffic['push']> {
  const before = connection.traffic;
  await request();
  const after = connection.traffic;
  return after.sent - before.sent + after.received - before.received;
}
