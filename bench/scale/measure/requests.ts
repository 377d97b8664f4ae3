/** Measures the costs of pushes and pulls without subscribers. */
import { ClientGroup, pullOps } from '../../client/client-group.js';
import type { Connection } from '../../client/connection.js';
import { Pusher } from '../../client/pusher.js';
import { type Recorder, repeat } from './recorder.js';
import { documentOf, documents, manyDocuments, members, userOf } from './teams.js';

const writers = 8;
const concurrentPulls = 64;

/** The number of repetitions of each operation. */
export interface RequestCounts {
  readonly pushes: number;
  readonly firstPulls: number;
  readonly unchangedPulls: number;
  /** The number of new client groups. */
  readonly clientGroups: number;
}

export type Open = (url: string) => Promise<Connection>;

/** Opens a client of a team other than the large one. */
export async function writerFor({ deployment }: Recorder, open: Open, team: number, i: number): Promise<Pusher> {
  const options = { user: userOf(team, i), id: `writer${i}`, mutator: 'doc.rename', row: documentOf(team, i) };
  return new Pusher(await open(deployment.writerURL), options);
}

export async function measurePushes(
  recorder: Recorder,
  open: Open,
  team: number,
  { pushes, writes }: { readonly pushes: number; readonly writes: number },
): Promise<void> {
  const all = await Promise.all(Array.from({ length: writers }, (_, i) => writerFor(recorder, open, team, i)));
  // Code is slow until it has run many times.
  await repeat(300, (i) => all[i % writers]!.push());
  await recorder.phase('push', pushes, () =>
    Promise.all(all.map((writer) => repeat(Math.ceil(pushes / writers), () => writer.push()))),
  );
  await recorder.writes('push, one by one', 'few', writes, () => all[0]!.push());
}

export async function measureFirstPulls(recorder: Recorder, open: Open, teams: number, count: number): Promise<void> {
  const connection = await open(recorder.deployment.serverURL);
  let n = 0;
  const pull = (user: string, rows: number) => pullOps(new ClientGroup(connection, user, `first ${n++}`), rows);
  const few = () => pull(userOf(1 + (n % teams), n % members), documents);
  const many = () => pull(userOf(0, 0), manyDocuments);
  await repeat(50, few);
  await repeat(5, many);
  await recorder.phase('first pull, few rows', 5 * count, () => repeat(5 * count, few));
  await recorder.phase('first pull, many rows', count, () => repeat(count, many));
}

export async function measureUnchangedPulls(
  recorder: Recorder,
  open: Open,
  { unchangedPulls: count, clientGroups }: RequestCounts,
): Promise<void> {
  const { serverURL } = recorder.deployment;
  const connections = await Promise.all(Array.from({ length: concurrentPulls }, () => open(serverURL)));
  const groupOf = (connection: Connection, i: number) =>
    new ClientGroup(connection, userOf(1 + Math.floor(i / members), i % members), `idle ${i}`);
  const lanes = connections.map((connection, lane) =>
    Array.from({ length: Math.ceil((clientGroups - lane) / concurrentPulls) }, (_, i) =>
      groupOf(connection, lane + i * concurrentPulls),
    ),
  );
  await Promise.all(lanes.map((lane) => repeat(lane.length, (i) => lane[i]!.pull())));
  await recorder.phase('unchanged pull, together', count, () =>
    Promise.all(lanes.map((lane) => repeat(Math.ceil(count / concurrentPulls), (i) => lane[i % lane.length]!.pull()))),
  );
  // Last, because a server closes idle connections if this takes long.
  const alone = Math.ceil(count / 4);
  const [lane] = lanes;
  await recorder.phase('unchanged pull, one by one', alone, () =>
    repeat(alone, (i) => lane![i % lane!.length]!.pull()),
  );
}
