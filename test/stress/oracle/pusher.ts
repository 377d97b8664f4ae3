/** Clients that push. Mutation n of a client writes n into its row, and adds one row to the effects. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import type { MutatorCall } from '../../../packages/tidemark/src/registry/mutators.js';
import type { Send } from './client.js';
import type { Gate } from './gate.js';
import type { Random } from './random.js';
import type { Report } from './report.js';
import type { User } from './views.js';

interface CountArgs {
  readonly clientID: string;
  readonly n: number;
}

export async function runCount({ tx, args, ctx }: MutatorCall<unknown, ClientBase, User>): Promise<void> {
  const { clientID, n } = args as CountArgs;
  await tx.query(
    `insert into counter values ($1, $2, $3, 1)
     on conflict (client_id) do update set n = excluded.n, effects = counter.effects + 1`,
    [clientID, ctx.userID, n],
  );
  await tx.query('insert into effect values ($1, $2)', [clientID, n]);
}

export interface PusherOptions {
  readonly userID: string;
  readonly clientGroupID: string;
  readonly clientID: string;
  readonly random: Random;
  readonly send: Send;
  readonly gate: Gate;
  readonly report: Report;
  readonly isOver: () => boolean;
  /** Called with the number of the newest confirmed mutation. */
  readonly onConfirmed: (n: number) => void;
}

const maxPauseMs = 60;

/** @returns the number of pushed mutations */
export async function push(options: PusherOptions): Promise<number> {
  const { random, gate, report, isOver } = options;
  let pushed = 0;
  while (!isOver()) {
    const first = Math.max(1, pushed - random.between(0, 2));
    const last = pushed + random.between(1, 6);
    const doubled = random.chance(0.2);
    await gate.pass(() => deliver(options, first, last, doubled));
    options.onConfirmed(last);
    report.counts.mutations += last - pushed;
    if (doubled) report.counts.doubled++;
    pushed = last;
    await sleep(random.between(5, maxPauseMs));
  }
  return pushed;
}

/** Sends the mutations, some twice, until they are accepted. Doubled ones go over two connections in parallel. */
async function deliver(options: PusherOptions, first: number, last: number, doubled: boolean): Promise<void> {
  for (;;) {
    const sent = await Promise.all(Array.from({ length: doubled ? 2 : 1 }, () => sendOnce(options, first, last)));
    if (sent.every((isAccepted) => isAccepted)) return;
    await sleep(20);
  }
}

async function sendOnce(options: PusherOptions, first: number, last: number): Promise<boolean> {
  const { userID, clientGroupID, clientID, send, report } = options;
  const mutations = Array.from({ length: last - first + 1 }, (_, i) => ({
    id: first + i,
    clientID,
    name: 'count',
    args: { clientID, n: first + i },
    timestamp: 0,
  }));
  report.counts.pushes++;
  const { response } = await send('/sync/push', userID, {
    pushVersion: 1,
    profileID: 'p',
    clientGroupID,
    schemaVersion: '',
    mutations,
  });
  const text = await response.text();
  if (response.status === 200 && text !== '{}') report.object('push', clientID, text);
  if (response.status !== 200 && response.status !== 503) report.object('push', clientID, `${response.status} ${text}`);
  return response.status !== 503;
}
