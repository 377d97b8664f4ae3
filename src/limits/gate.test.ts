import { describe, expect, it } from 'vitest';
import { Gate, type GateOptions, type Leave } from './gate.js';

const options: GateOptions = {
  places: 2,
  mostWaiting: 3,
  longestWaitMs: 60_000,
  usualMs: 100,
  refusal: 'Come back later',
};

/** The `Retry-After` of someone who is not let in. */
async function refused(gate: Gate): Promise<number> {
  const problem = await gate.enter(undefined).then(
    () => undefined,
    (error: unknown) => error as { code: string; headers: Record<string, string> },
  );
  expect(problem?.code).toBe('unavailable');
  return Number(problem!.headers['Retry-After']);
}

/** Lets those go on who have been let in. */
const settled = () => new Promise(setImmediate);

/** Lets in as many as fit, and queues as many as may wait. */
async function filled(gate: Gate, { places, mostWaiting } = options): Promise<Leave[]> {
  const leaves: Leave[] = [];
  for (let i = 0; i < places; i++) leaves.push(await gate.enter(undefined));
  for (let i = 0; i < mostWaiting; i++) comeIn(gate, leaves);
  return leaves;
}

/** Whoever is still waiting at a test's end is refused long after it. */
function comeIn(gate: Gate, leaves: Leave[]): void {
  gate.enter(undefined).then(
    (leave) => leaves.push(leave),
    () => {},
  );
}

describe('those who come to a gate', () => {
  it('run as many at once as there are places, and the others in the order in which they came', async () => {
    const gate = new Gate(options);
    const order: number[] = [];
    const leaves: Leave[] = [];
    const entered = [0, 1, 2, 3, 4].map((i) =>
      gate.enter(undefined).then((leave) => {
        order.push(i);
        leaves.push(leave);
      }),
    );
    await Promise.all(entered.slice(0, 2));
    expect(gate.waiting).toBe(3);
    for (const i of [0, 1, 2]) {
      expect(order).toHaveLength(i + 2);
      leaves[i]!();
      await settled();
    }
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(gate.waiting).toBe(0);
  });

  it('have a place only once, however often it is given back', async () => {
    const gate = new Gate({ ...options, places: 1 });
    const leave = await gate.enter(undefined);
    const next = gate.enter(undefined);
    comeIn(gate, []);
    leave();
    leave();
    await next;
    expect(gate.waiting).toBe(1);
  });

  it('are refused if too many wait, and later ones are to come back later', async () => {
    const gate = new Gate(options);
    await filled(gate);
    const first = refused(gate);
    expect(gate.waiting).toBe(options.mostWaiting);
    // A read is taken for 100 ms, so that two places make a turn every 50 ms. Four turns are taken.
    const seconds = [await first];
    for (let i = 1; i < 1500; i++) seconds.push(await refused(gate));
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
    const gate = new Gate(options);
    for (let i = 0; i < 60; i++) (await gate.enter(undefined))();
    await filled(gate);
    expect(await refused(gate)).toBe(1);
  });

  it('are not refused because a few of the last ones have met a busy moment', async () => {
    const gate = new Gate({ ...options, usualMs: 1, mostWaiting: 1000, longestWaitMs: 1000 });
    const leaves = await filled(gate, { ...options, mostWaiting: 500 });
    const busyUntil = performance.now() + 100;
    while (performance.now() < busyUntil);
    for (let i = 0; i < 10; i++) {
      leaves.shift()!();
      await settled();
    }
    comeIn(gate, leaves);
    expect(gate.waiting).toBe(491);
  });

  it('are refused if a place is not to be expected in time', async () => {
    const gate = new Gate({ ...options, mostWaiting: 1000, longestWaitMs: 1000 });
    const leaves = await filled(gate, { ...options, mostWaiting: 20 });
    await refused(gate);
    expect(gate.waiting).toBe(20);
    leaves.shift()!();
    await settled();
    // The 19 that wait take less than a second, even if the read has taken no time at all.
    comeIn(gate, leaves);
    expect(gate.waiting).toBe(20);
    while (gate.waiting > 0) {
      leaves.shift()!();
      await settled();
    }
  });

  it('wait for a limited time', async () => {
    const gate = new Gate({ ...options, longestWaitMs: 60 });
    const [leave] = await filled(gate, { ...options, mostWaiting: 0 });
    await refused(gate);
    expect(gate.waiting).toBe(0);
    leave!();
    await gate.enter(undefined);
  });

  it('leave the queue with their client', async () => {
    const gate = new Gate(options);
    const [leave] = await filled(gate, { ...options, mostWaiting: 0 });
    const client = new AbortController();
    const gone = gate.enter(undefined, () => client.signal);
    const stays = gate.enter(undefined);
    client.abort();
    expect(gate.waiting).toBe(1);
    await expect(gone).rejects.toMatchObject({ code: 'unavailable' });
    leave!();
    await stays;
    await expect(gate.enter(undefined, () => client.signal)).rejects.toMatchObject({ code: 'unavailable' });
    expect(gate.waiting).toBe(0);
  });

  it('are no more of one user than their share, and others go before them', async () => {
    const gate = new Gate({ ...options, places: 4, mostWaiting: 20 });
    const order: string[] = [];
    const leaves = new Map<string, Leave>();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']) {
      void gate.enter(name[0]).then((leave) => {
        order.push(name);
        leaves.set(name, leave);
      });
    }
    await settled();
    expect(order).toEqual(['a1', 'a2', 'a3', 'b1']);
    leaves.get('b1')!();
    await settled();
    expect(order.at(-1)).toBe('b2');
    for (const [leaving, next] of [
      ['a1', 'c1'],
      ['a2', 'a4'],
      ['a3', 'a5'],
    ] as const) {
      leaves.get(leaving)!();
      await settled();
      expect(order.at(-1)).toBe(next);
    }
    expect(gate.waiting).toBe(0);
  });

  it('may be of nobody, who has no share', async () => {
    const gate = new Gate(options);
    await gate.enter(undefined);
    await gate.enter(undefined);
    expect(gate.waiting).toBe(0);
  });

  it('of one user fill a tenth of the queue, and others still wait', async () => {
    const gate = new Gate({ ...options, places: 1, mostWaiting: 20, longestWaitMs: 500 });
    await gate.enter('a');
    for (let i = 0; i < 2; i++) gate.enter('a').catch(() => {});
    await expect(gate.enter('a')).rejects.toMatchObject({ code: 'too-many-requests', status: 429 });
    gate.enter('b').catch(() => {});
    expect(gate.waiting).toBe(3);
  });

  it('leave nothing behind, whoever they were of', async () => {
    const gate = new Gate({ ...options, longestWaitMs: 20 });
    for (let i = 0; i < 100; i++) await gate.run(`user ${i}`, async () => {});
    await Promise.all([1, 2].map((i) => gate.enter(`holder ${i}`)));
    await Promise.allSettled([1, 2].map((i) => gate.enter(`late ${i}`)));
    expect(gate.users).toBe(2);
  });

  it('run their work in a place, and give it back when it fails', async () => {
    const gate = new Gate({ ...options, places: 1 });
    await expect(gate.run('u', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await gate.run('u', async () => 'done')).toBe('done');
  });
});
