import { describe, expect, it } from 'vitest';
import { type Leave, LongReads } from '../../src/pulls/long-reads.js';

const options = { places: 2, mostWaiting: 3, longestWaitMs: 60_000 };

/** The `Retry-After` of someone who is not let in. */
async function refused(reads: LongReads): Promise<number> {
  const problem = await reads.enter().then(
    () => undefined,
    (error: unknown) => error as { code: string; headers: Record<string, string> },
  );
  expect(problem?.code).toBe('unavailable');
  return Number(problem!.headers['Retry-After']);
}

/** Lets those go on who have been let in. */
const settled = () => new Promise(setImmediate);

/** Lets in as many as fit, and queues as many as may wait. */
async function filled(reads: LongReads, { places, mostWaiting } = options): Promise<Leave[]> {
  const leaves: Leave[] = [];
  for (let i = 0; i < places; i++) leaves.push(await reads.enter());
  for (let i = 0; i < mostWaiting; i++) comeIn(reads, leaves);
  return leaves;
}

/** Whoever is still waiting at a test's end is refused long after it. */
function comeIn(reads: LongReads, leaves: Leave[]): void {
  reads.enter().then(
    (leave) => leaves.push(leave),
    () => {},
  );
}

describe('long reads', () => {
  it('run as many at once as there are places, and the others in the order in which they came', async () => {
    const reads = new LongReads(options);
    const order: number[] = [];
    const leaves: Leave[] = [];
    const entered = [0, 1, 2, 3, 4].map((i) =>
      reads.enter().then((leave) => {
        order.push(i);
        leaves.push(leave);
      }),
    );
    await Promise.all(entered.slice(0, 2));
    expect(reads.waiting).toBe(3);
    for (const i of [0, 1, 2]) {
      expect(order).toHaveLength(i + 2);
      leaves[i]!();
      await settled();
    }
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(reads.waiting).toBe(0);
  });

  it('have a place only once, however often it is given back', async () => {
    const reads = new LongReads({ ...options, places: 1 });
    const leave = await reads.enter();
    const next = reads.enter();
    comeIn(reads, []);
    leave();
    leave();
    await next;
    expect(reads.waiting).toBe(1);
  });

  it('are refused if too many wait, and later ones are to come back later', async () => {
    const reads = new LongReads(options);
    await filled(reads);
    const first = refused(reads);
    expect(reads.waiting).toBe(options.mostWaiting);
    // A read is taken for 100 ms, so that two places make a turn every 50 ms. Four turns are taken.
    const seconds = [await first];
    for (let i = 1; i < 1500; i++) seconds.push(await refused(reads));
    expect(seconds.every((value) => Number.isInteger(value))).toBe(true);
    for (const i of [0, 100, 400]) {
      expect(seconds[i]).toBeGreaterThanOrEqual(Math.floor((4 + i) / 20));
      expect(seconds[i]).toBeLessThanOrEqual(Math.ceil((1.5 * (5 + i)) / 20));
    }
    // At most a minute.
    expect(Math.max(...seconds)).toBe(60);
    // Jitter: otherwise, later ones would never be told less than earlier ones.
    expect(seconds.some((value, i) => value < seconds[i - 1]!)).toBe(true);
  });

  it('are expected to take as long as the last ones', async () => {
    const reads = new LongReads(options);
    for (let i = 0; i < 60; i++) (await reads.enter())();
    await filled(reads);
    expect(await refused(reads)).toBe(1);
  });

  it('are refused if a place is not to be expected in time', async () => {
    const reads = new LongReads({ places: 2, mostWaiting: 1000, longestWaitMs: 1000 });
    const leaves = await filled(reads, { ...options, mostWaiting: 20 });
    await refused(reads);
    expect(reads.waiting).toBe(20);
    leaves.shift()!();
    await settled();
    // The 19 that wait take less than a second, even if the read has taken no time at all.
    comeIn(reads, leaves);
    expect(reads.waiting).toBe(20);
    while (reads.waiting > 0) {
      leaves.shift()!();
      await settled();
    }
  });

  it('wait for a limited time', async () => {
    const reads = new LongReads({ ...options, longestWaitMs: 60 });
    const [leave] = await filled(reads, { ...options, mostWaiting: 0 });
    await refused(reads);
    expect(reads.waiting).toBe(0);
    leave!();
    await reads.enter();
  });

  it('leave the queue with their client', async () => {
    const reads = new LongReads(options);
    const [leave] = await filled(reads, { ...options, mostWaiting: 0 });
    const client = new AbortController();
    const gone = reads.enter(client.signal);
    const stays = reads.enter();
    client.abort();
    expect(reads.waiting).toBe(1);
    await expect(gone).rejects.toMatchObject({ code: 'unavailable' });
    leave!();
    await stays;
    await expect(reads.enter(client.signal)).rejects.toMatchObject({ code: 'unavailable' });
    expect(reads.waiting).toBe(0);
  });

  it('give the place back when all is read, and when they fail', async () => {
    const reads = new LongReads({ ...options, places: 1, mostWaiting: 0 });
    let closed = 0;
    const more = {
      headers: [],
      checksums: undefined,
      ops: (async function* () {})(),
      close: async () => void closed++,
    };
    const { more: stream } = await reads.run(async () => ({ more }));
    await refused(reads);
    await stream.close();
    expect(closed).toBe(1);
    await reads.run(async () => ({}));
    await expect(reads.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    (await reads.enter())();
    const failing = { ...more, close: () => Promise.reject(new Error('lost')) };
    const { more: broken } = await reads.run(async () => ({ more: failing }));
    await expect(broken.close()).rejects.toThrow('lost');
    await reads.enter();
  });
});
