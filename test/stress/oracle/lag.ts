/** What has standbys fall behind, and what a primary writes down for them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplicationOptions, Standby } from '../../support/replication.js';
import type { Code } from './code.js';
import type { Gate } from './gate.js';
import type { Random } from './random.js';

/** Where a commit waits for the slow one of the standbys, the quick one is ahead of the primary. */
export const laggingStandbys: ReplicationOptions = { delays: [0, 300], waitsFor: 'standby_1' };

export interface LagOptions {
  readonly random: Random;
  readonly gate: Gate;
  readonly isOver: () => boolean;
}

/** The longest that a standby replays nothing, and the longest that it does between that, in milliseconds. */
const longestPauseMs = 2000;
const longestReplayMs = 300;

export async function pauseAndResume(standby: Standby, { random, gate, isOver }: LagOptions): Promise<void> {
  while (!isOver()) {
    await gate.pass(async () => {
      await standby.pause();
      await sleep(random.between(0, longestPauseMs));
      await standby.resume();
    });
    await sleep(random.between(0, longestReplayMs));
  }
}

/** The longest that a standby is left alone, in milliseconds. */
const longestPeaceMs = 3000;
/** The longest that it is away, or a primary of its own, in milliseconds. */
const longestAwayMs = 2000;
/** Longer than a standby may lag. */
const tooLongMs = 7000;

/** What happens to standbys that others read from. */
export async function failNowAndThen(standby: Standby, { random, gate, isOver }: LagOptions): Promise<void> {
  const pause = async (ms: number) => {
    await standby.pause();
    await sleep(ms);
    await standby.resume();
  };
  const troubles: readonly (() => Promise<void>)[] = [
    () => pause(random.between(0, longestPauseMs)),
    () => pause(random.between(0, longestPauseMs)),
    () => pause(tooLongMs),
    () => standby.kill(),
    async () => {
      await standby.stop();
      await sleep(random.between(0, longestAwayMs));
      await standby.start();
    },
    async () => {
      await standby.promote();
      await sleep(random.between(0, longestAwayMs));
      await standby.rebuild();
    },
  ];
  while (!isOver()) {
    await gate.pass(random.pick(troubles));
    for (let left = random.between(0, longestPeaceMs); left > 0 && !isOver(); left -= 100) await sleep(100);
  }
}

/** So long stays a cookie good, in seconds. */
const retentionSeconds = 3600;

/** Has the primary note its snapshot. */
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
