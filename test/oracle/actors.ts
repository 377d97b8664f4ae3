/** Pulling clients of different habits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, PullingClient } from './client.js';
import type { Gate } from './gate.js';
import type { Random } from './random.js';
import { users } from './schema.js';

export interface Actor {
  readonly client: PullingClient;
  readonly random: Random;
  readonly longestPauseMs: number;
  /** One pull, in this actor's way. */
  readonly step: () => Promise<void>;
}

type Shared = Omit<ClientOptions, 'userID' | 'clientGroupID'> & { readonly random: Random };

const quick = 60;
const slow = 2000;

export function createClients({ random, ...shared }: Shared): Actor[] {
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
    client: PullingClient,
    longestPauseMs: number,
    step: (random: Random) => Promise<void> = () => client.pull(),
  ): Actor => {
    const own = random.stream(100 + ++streams);
    return { client, random: own, longestPauseMs, step: () => step(own) };
  };

  const eager = create(ann, ['ann 1', 'ann 2']);
  const mutating = create(oneil, ["o'neil 1"]);
  const seldom = create(zoe, ['zoë 1']);
  const forking = create(ann);
  const lost = create(oneil);
  const forgetful = create(bob);
  return [
    actor(eager, quick),
    actor(mutating, quick),
    actor(create(bob), quick),
    actor(seldom, slow),
    actor(forking, quick, async (own) => {
      if (own.chance(0.25)) forking.fork(eager, newGroup());
      await forking.pull();
    }),
    actor(lost, 4 * quick, (own) => lost.pull(own.chance(0.2) ? spoilt(lost.cookie, own) : lost.cookie)),
    actor(forgetful, 4 * quick, async (own) => {
      if (own.chance(0.1)) forgetful.restart(newGroup());
      await forgetful.pull();
    }),
  ];
}

/** Anything but the cookie that was given. */
function spoilt(cookie: unknown, random: Random): unknown {
  const given = (cookie ?? {}) as { order?: number; snapshot?: string };
  const order = given.order ?? 1;
  return random.pick<unknown>([
    order + 1,
    { order },
    { order, snapshot: 'nonsense' },
    { ...given, order, snapshot: '1:1:' },
    { ...given, order, signature: 'AAAAAAAAAAAAAAAAAAAAAA' },
    { ...given, order: order + 1024 },
  ]);
}

export interface Pace {
  readonly gate: Gate;
  readonly isOver: () => boolean;
}

export async function pullOn({ step, random, longestPauseMs }: Actor, { gate, isOver }: Pace): Promise<void> {
  while (!isOver()) {
    await gate.pass(step);
    for (let left = random.between(1, longestPauseMs); left > 0 && !isOver(); left -= 100) {
      await sleep(Math.min(left, 100));
    }
  }
}
