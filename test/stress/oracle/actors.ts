/** Clients with different pull habits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, PullingClient } from './client.js';
import type { Gate } from './gate.js';
import type { Random } from './random.js';
import { crowdUser, users } from './schema.js';

export interface Actor {
  readonly clients: readonly PullingClient[];
  readonly random: Random;
  readonly maxPauseMs: number;
  /** Pulls once with each client, in this actor's way. */
  readonly step: () => Promise<void>;
}

interface Shared extends Omit<ClientOptions, 'userID' | 'clientGroupID'> {
  readonly random: Random;
  /** The number of users who pull at the same time. */
  readonly crowd: number;
}

const quick = 60;
const slow = 2000;

export function createClients({ random, crowd: size, ...shared }: Shared): Actor[] {
  const [ann, oneil, zoe, bob] = users as [string, string, string, string];
  let groups = 0;
  const newGroup = () => `group ${++groups}`;
  const create = (userID: string, mutating: readonly string[] = []) => {
    const client = new PullingClient({ ...shared, userID, clientGroupID: newGroup() });
    for (const id of mutating) client.mutating.add(id);
    return client;
  };
  let streams = 0;
  const actor = (
    clients: PullingClient | readonly PullingClient[],
    maxPauseMs: number,
    step?: (random: Random) => Promise<void>,
  ): Actor => {
    const stream = random.stream(100 + ++streams);
    const all = [clients].flat();
    const pullAll = async () => void (await Promise.all(all.map((client) => client.pull())));
    return { clients: all, random: stream, maxPauseMs, step: step ? () => step(stream) : pullAll };
  };

  const eager = create(ann, ['ann 1', 'ann 2']);
  const mutating = create(oneil, ["o'neil 1"]);
  const seldom = create(zoe, ['zoë 1']);
  const forking = create(ann);
  const lost = create(oneil);
  const forgetful = create(bob);
  const promoted = [create(ann), create(zoe, ['zoë 4']), create(oneil)];
  const leader = create(zoe, ['zoë 2']);
  // Two clients for each node, including the leader.
  const followers = [create(zoe), create(zoe, ['zoë 3']), create(zoe), create(zoe), create(zoe)];
  const flock = [leader, ...followers];
  const crowd = Array.from({ length: size }, (_, i) => create(crowdUser(i)));
  return [
    actor(eager, quick),
    actor(mutating, quick),
    actor(create(bob), quick),
    actor(seldom, slow),
    actor(forking, quick, async (stream) => {
      if (stream.chance(0.25)) forking.fork(eager, newGroup());
      await forking.pull();
    }),
    actor(lost, 4 * quick, (stream) => lost.pull(stream.chance(0.2) ? spoilt(lost.cookie, stream) : lost.cookie)),
    actor(forgetful, 4 * quick, async (stream) => {
      if (stream.chance(0.1)) forgetful.restart(newGroup());
      await forgetful.pull();
    }),
    // Sometimes changes the role, and with it some of the views.
    actor(promoted, 2 * quick, async (stream) => {
      for (const client of promoted) if (stream.chance(0.5)) client.role = client.role === '' ? 'other' : '';
      await Promise.all(promoted.map((client) => client.pull()));
    }),
    // Several users at the same time. The nodes take turns, so each gets every third user.
    actor(crowd, 2 * quick, async () => {
      const before = await shared.judge.snapshot();
      await Promise.all(crowd.map((client) => client.pull(client.cookie, before)));
    }),
    actor(flock, 2 * quick, async (stream) => {
      for (const follower of followers) {
        if (stream.chance(0.3)) follower.fork(leader, follower.mutating.size > 0 ? follower.clientGroupID : newGroup());
      }
      // The nodes take turns, so each gets every third client of the flock, at the same time.
      const before = await shared.judge.snapshot();
      await Promise.all(flock.map((client) => client.pull(client.cookie, before)));
    }),
  ];
}

/** Any cookie other than the given one. */
function spoilt(cookie: unknown, random: Random): unknown {
  const original = (cookie ?? {}) as { order?: number; snapshot?: string };
  const order = original.order ?? 1;
  return random.pick<unknown>([
    order + 1,
    { order },
    { order, snapshot: 'nonsense' },
    { ...original, order, snapshot: '1:1:' },
    { ...original, order, signature: 'AAAAAAAAAAAAAAAAAAAAAA' },
    { ...original, order: order + 1024 },
  ]);
}

export interface Pace {
  readonly gate: Gate;
  readonly isOver: () => boolean;
}

export async function pullOn({ step, random, maxPauseMs }: Actor, { gate, isOver }: Pace): Promise<void> {
  while (!isOver()) {
    await gate.pass(step);
    for (let left = random.between(1, maxPauseMs); left > 0 && !isOver(); left -= 100) {
      await sleep(Math.min(left, 100));
    }
  }
}
