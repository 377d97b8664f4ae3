/** Makes standbys lag, and makes the primary record its snapshots for them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplicationOptions, Standby } from '../../support/replication.js';
import type { Code } from './code.js';
import type { Gate } from './gate.js';
import type { Random } from './random.js';

/** A commit waits for the slow standby, so the quick one is ahead of the primary. */
export const laggingStandbys: ReplicationOptions = { delays: [0, 300], waitsFor: 'standby_1' };

export interface LagOptions {
  readonly random: Random;
  readonly gate: Gate;
  readonly isOver: () => boolean;
}

/** The longest replay pause of a standby, and the longest time of replay between pauses, in milliseconds. */
const maxPauseMs = 2000;
const maxReplayMs = 300;

export async function pauseAndResume(standby: Standby, { random, gate, isOver }: LagOptions): Promise<void> {
  while (!isOver()) {
    await gate.pass(async () => {
      await standby.pause();
      await sleep(random.between(0, maxPauseMs));
      await standby.resume();
    });
    await sleep(random.between(0, maxReplayMs));
  }
}

/** The longest time without trouble for a standby, in milliseconds. */
const maxCalmMs = 3000;
/** The longest time that it is stopped or a primary of its own, in milliseconds. */
const maxDowntimeMs = 2000;
/** Longer than a standby may lag. */
const tooLongMs = 7000;

/** Makes a standby that serves reads fail in various ways. */
export async function failNowAndThen(standby: Standby, { random, gate, isOver }: LagOptions): Promise<void> {
  const pause = async (ms: number) => {
    await standby.pause();
    await sleep(ms);
    await standby.resume();
  };
  const troubles: readonly (() => Promise<void>)[] = [
    () => pause(random.between(0, maxPauseMs)),
    () => pause(random.between(0, maxPauseMs)),
    () => pause(tooLongMs),
    () => standby.kill(),
    async () => {
      await standby.stop();
      await sleep(random.between(0, maxDowntimeMs));
      await standby.start();
    },
    async () => {
      await standby.promote();
      await sleep(random.between(0, maxDowntimeMs));
      await standby.rebuild();
    },
  ];
  while (!isOver()) {
    await gate.pass(random.pick(troubles));
    for (let left = random.between(0, maxCalmMs); left > 0 && !isOver(); left -= 100) await sleep(100);
  }
}

/** The time for which a cookie stays valid, in seconds. */
const retentionSeconds = 3600;

/** Makes the primary record its snapshot. */
export async function note(code: Code, url: string): Promise<void> {
  const db = code.openPool(url, { max: 1, connectionTimeoutMs: 60_000 });
  await code.prune(db, retentionSeconds).finally(() => db.close());
}

const seldomMs = 3000;

export async function noteOn(code: Code, url: string, { random, gate, isOver }: LagOptions): Promise<void> {
  while (!isOver()) {
    await gate.pass(() => note(code, url));
    await sleep(random.between(0, seldomMs));
  }
}
