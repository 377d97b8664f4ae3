import { describe, expect, it } from 'vitest';
import { type Release, Semaphore, type SemaphoreOptions } from './semaphore.js';

const options: SemaphoreOptions = {
  permits: 2,
  maxWaiting: 3,
  maxWaitMs: 60_000,
  defaultDurationMs: 100,
  refusal: 'Come back later',
};

/** Returns the `Retry-After` of a refused request. */
async function retryAfterOf(semaphore: Semaphore): Promise<number> {
  const problem = await semaphore.acquire(undefined).then(
    () => undefined,
    (error: unknown) => error as { code: string; headers: Record<string, string> },
  );
  expect(problem?.code).toBe('unavailable');
  return Number(problem!.headers['Retry-After']);
}

/** Lets admitted requests continue. */
const flush = () => new Promise(setImmediate);

/** Takes all permits and fills the queue. */
async function fill(semaphore: Semaphore, { permits, maxWaiting } = options): Promise<Release[]> {
  const releases: Release[] = [];
  for (let i = 0; i < permits; i++) releases.push(await semaphore.acquire(undefined));
  for (let i = 0; i < maxWaiting; i++) enqueue(semaphore, releases);
  return releases;
}

/** Adds a request to the queue. If it still waits at the end of a test, it is refused long afterwards. */
function enqueue(semaphore: Semaphore, releases: Release[]): void {
  semaphore.acquire(undefined).then(
    (release) => releases.push(release),
    () => {},
  );
}

describe('a semaphore', () => {
  it('grants as many permits as it has, and the next ones in the order of the requests', async () => {
    const semaphore = new Semaphore(options);
    const order: number[] = [];
    const releases: Release[] = [];
    const acquired = [0, 1, 2, 3, 4].map((i) =>
      semaphore.acquire(undefined).then((release) => {
        order.push(i);
        releases.push(release);
      }),
    );
    await Promise.all(acquired.slice(0, 2));
    expect(semaphore.waiting).toBe(3);
    for (const i of [0, 1, 2]) {
      expect(order).toHaveLength(i + 2);
      releases[i]!();
      await flush();
    }
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(semaphore.waiting).toBe(0);
  });

  it('ignores a second release of the same permit', async () => {
    const semaphore = new Semaphore({ ...options, permits: 1 });
    const release = await semaphore.acquire(undefined);
    const next = semaphore.acquire(undefined);
    enqueue(semaphore, []);
    release();
    release();
    await next;
    expect(semaphore.waiting).toBe(1);
  });

  it('refuses requests if too many wait, with longer retry delays for later ones', async () => {
    const semaphore = new Semaphore(options);
    await fill(semaphore);
    const first = retryAfterOf(semaphore);
    expect(semaphore.waiting).toBe(options.maxWaiting);
    // Reads are assumed to take 100 ms, so two permits become free every 100 ms. Three are already awaited.
    const seconds = [await first];
    for (let i = 1; i < 1500; i++) seconds.push(await retryAfterOf(semaphore));
    expect(seconds.every((value) => Number.isInteger(value))).toBe(true);
    for (const i of [0, 100, 400]) {
      expect(seconds[i]).toBeGreaterThanOrEqual(Math.floor((4 + i) / 20));
      expect(seconds[i]).toBeLessThanOrEqual(Math.ceil((1.5 * (5 + i)) / 20));
    }
    // At most a minute.
    expect(Math.max(...seconds)).toBe(60);
    // Jitter: otherwise, a later request would never get a shorter time than an earlier one.
    expect(seconds.some((value, i) => value < seconds[i - 1]!)).toBe(true);
  });

  it('expects requests to take as long as recent ones', async () => {
    const semaphore = new Semaphore(options);
    for (let i = 0; i < 60; i++) (await semaphore.acquire(undefined))();
    await fill(semaphore);
    expect(await retryAfterOf(semaphore)).toBe(1);
  });

  it('does not refuse requests because the process was briefly busy', async () => {
    const semaphore = new Semaphore({ ...options, defaultDurationMs: 1, maxWaiting: 1000, maxWaitMs: 1000 });
    const releases = await fill(semaphore, { ...options, maxWaiting: 500 });
    const busyUntil = performance.now() + 100;
    while (performance.now() < busyUntil);
    for (let i = 0; i < 10; i++) {
      releases.shift()!();
      await flush();
    }
    enqueue(semaphore, releases);
    expect(semaphore.waiting).toBe(491);
  });

  it('refuses a request if no permit can be expected in time', async () => {
    const semaphore = new Semaphore({ ...options, maxWaiting: 1000, maxWaitMs: 1000 });
    const releases = await fill(semaphore, { ...options, maxWaiting: 20 });
    await retryAfterOf(semaphore);
    expect(semaphore.waiting).toBe(20);
    releases.shift()!();
    await flush();
    // The 19 waiting reads are expected to take less than a second, even if the finished read took no time.
    enqueue(semaphore, releases);
    expect(semaphore.waiting).toBe(20);
    while (semaphore.waiting > 0) {
      releases.shift()!();
      await flush();
    }
  });

  it('limits the time that a request waits', async () => {
    const semaphore = new Semaphore({ ...options, maxWaitMs: 60 });
    const [release] = await fill(semaphore, { ...options, maxWaiting: 0 });
    await retryAfterOf(semaphore);
    expect(semaphore.waiting).toBe(0);
    release!();
    await semaphore.acquire(undefined);
  });

  it('removes a request from the queue when its client disconnects', async () => {
    const semaphore = new Semaphore(options);
    const [release] = await fill(semaphore, { ...options, maxWaiting: 0 });
    const client = new AbortController();
    const abandoned = semaphore.acquire(undefined, client);
    const remaining = semaphore.acquire(undefined);
    client.abort();
    expect(semaphore.waiting).toBe(1);
    await expect(abandoned).rejects.toMatchObject({ code: 'unavailable' });
    release!();
    await remaining;
    await expect(semaphore.acquire(undefined, client)).rejects.toMatchObject({ code: 'unavailable' });
    expect(semaphore.waiting).toBe(0);
  });

  it('limits each user to a share of the permits, and serves other users first', async () => {
    const semaphore = new Semaphore({ ...options, permits: 4, maxWaiting: 20 });
    const order: string[] = [];
    const releases = new Map<string, Release>();
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']) {
      void semaphore.acquire(name[0]).then((release) => {
        order.push(name);
        releases.set(name, release);
      });
    }
    await flush();
    expect(order).toEqual(['a1', 'a2', 'a3', 'b1']);
    releases.get('b1')!();
    await flush();
    expect(order.at(-1)).toBe('b2');
    for (const [releasing, next] of [
      ['a1', 'c1'],
      ['a2', 'a4'],
      ['a3', 'a5'],
    ] as const) {
      releases.get(releasing)!();
      await flush();
      expect(order.at(-1)).toBe(next);
    }
    expect(semaphore.waiting).toBe(0);
  });

  it('has no limit per user for requests without a user', async () => {
    const semaphore = new Semaphore(options);
    await semaphore.acquire(undefined);
    await semaphore.acquire(undefined);
    expect(semaphore.waiting).toBe(0);
  });

  it('limits each user to a tenth of the queue', async () => {
    const semaphore = new Semaphore({ ...options, permits: 1, maxWaiting: 20, maxWaitMs: 500 });
    await semaphore.acquire('a');
    for (let i = 0; i < 2; i++) semaphore.acquire('a').catch(() => {});
    await expect(semaphore.acquire('a')).rejects.toMatchObject({ code: 'too-many-requests', status: 429 });
    semaphore.acquire('b').catch(() => {});
    expect(semaphore.waiting).toBe(3);
  });

  it('forgets users that have no permits and no waiting requests', async () => {
    const semaphore = new Semaphore({ ...options, maxWaitMs: 20 });
    for (let i = 0; i < 100; i++) await semaphore.run(`user ${i}`, async () => {});
    await Promise.all([1, 2].map((i) => semaphore.acquire(`holder ${i}`)));
    await Promise.allSettled([1, 2].map((i) => semaphore.acquire(`late ${i}`)));
    expect(semaphore.users).toBe(2);
  });

  it('runs work with a permit, and releases the permit if the work fails', async () => {
    const semaphore = new Semaphore({ ...options, permits: 1 });
    await expect(semaphore.run('u', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await semaphore.run('u', async () => 'done')).toBe('done');
  });
});
