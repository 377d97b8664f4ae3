import { expect, it } from 'vitest';
import { Random } from '../../test/stress/oracle/random.js';
import { FloodLimiter } from './flood-limiter.js';

it('a tenant is the only active one if no other one has had a request for a second', () => {
  const floodLimiter = new FloodLimiter();
  expect(floodLimiter.isOnlyActive('a', 0)).toBe(true);
  floodLimiter.recordArrival('a', 0);
  expect([floodLimiter.isOnlyActive('a', 10), floodLimiter.isOnlyActive('b', 10)]).toEqual([true, false]);
  floodLimiter.recordArrival('b', 500);
  for (let now = 500; now < 1_500; now += 10) floodLimiter.recordArrival('a', now);
  expect([floodLimiter.isOnlyActive('a', 1_499), floodLimiter.isOnlyActive('a', 1_500)]).toEqual([false, true]);
  floodLimiter.recordArrival('c', 1_600);
  floodLimiter.recordArrival('a', 1_700);
  expect([
    floodLimiter.isOnlyActive('a', 1_800),
    floodLimiter.isOnlyActive('b', 1_800),
    floodLimiter.isOnlyActive('c', 1_800),
  ]).toEqual([false, false, false]);
});

/** Requests of two tenants, and a flood of another tenant. */
class Scene {
  readonly floodLimiter = new FloodLimiter();
  readonly #random = new Random(1);
  readonly #everyMs: number;
  #now = 0;
  #pausedUntil = 0;
  #cooldownMs = 0;

  /** Each of the two tenants, one with quick and one with slow requests, has a request every `everyMs` milliseconds. */
  constructor(everyMs = 10) {
    this.#everyMs = everyMs;
  }

  get now(): number {
    return this.#now;
  }

  get isPaused(): boolean {
    return this.#now < this.#pausedUntil;
  }

  /** The number of the flood's requests that are served concurrently. */
  get concurrency(): number {
    return this.floodLimiter.maxConcurrency / (1 + this.#cooldownMs);
  }

  calm(seconds: number): this {
    for (const end = this.#now + 1_000 * seconds; this.#now < end; this.#now += this.#everyMs) this.#serve(1);
    return this;
  }

  /** Floods for `seconds`. The others' requests take `times` as long as usual, and `inPauses` as long in its pauses. */
  flood(seconds: number, times: number | (() => number), inPauses = 1): this {
    for (const end = this.#now + 1_000 * seconds; this.#now < end; this.#now += 10) {
      const slowdown = typeof times === 'number' ? times : times();
      if (this.#now % this.#everyMs === 0) this.#serve(this.isPaused ? inPauses : slowdown);
      if (!this.isPaused) this.#coolDown();
    }
    return this;
  }

  #serve(times: number): void {
    this.floodLimiter.recordLatency('quick', 2 * times * this.#factor(), this.#now);
    this.floodLimiter.recordLatency('slow', 20 * times * this.#factor(), this.#now);
  }

  /** Returns a random factor, mostly between a half and two. */
  #factor(): number {
    return Math.exp(this.#random.next() + this.#random.next() + this.#random.next() - 1.5);
  }

  #coolDown(): void {
    const ms = this.floodLimiter.cooldownMs(1, this.#now);
    if (ms > 500) this.#pausedUntil = this.#now + ms;
    else this.#cooldownMs = ms;
  }
}

/** Creates a scene in which the baseline is known and no flood is in progress. */
const steadyScene = (everyMs?: number) => new Scene(everyMs).calm(40);

it('a flood is limited only if it slows down the requests of other tenants', () => {
  expect(steadyScene().flood(60, 1).concurrency).toBe(8);
  expect(steadyScene().flood(5, 1.5).concurrency).toBe(1 / 32);
});

it.each([4, 10, 100, 500])(
  'a slowdown is detected within two seconds if each tenant has one request in %i ms',
  (everyMs) => {
    expect(steadyScene(everyMs).flood(2, 3).concurrency).toBe(1 / 32);
  },
);

it.each([4, 10, 100])(
  'the absence of a slowdown is detected within two seconds with one request in %i ms',
  (everyMs) => {
    expect(steadyScene(everyMs).flood(2, 1).concurrency).toBeGreaterThan(1 / 4);
  },
);

it('a slowdown that exists without a flood, too, does not limit it', () => {
  const floodLimiter = new FloodLimiter();
  // Each request takes longer than all previous ones.
  const serve = (now: number) => floodLimiter.recordLatency('a', now / 1_000, now);
  for (let now = 0; now < 40_000; now += 10) serve(now);
  for (let now = 40_000; now < 100_000; now += 10) {
    serve(now);
    floodLimiter.cooldownMs(1, now);
  }
  expect(floodLimiter.maxConcurrency).toBe(8);
});

it('the limit of a flood follows the slowdown of other tenants', () => {
  const scene = steadyScene().flood(5, 2);
  expect(scene.flood(60, 1).concurrency).toBeGreaterThan(7);
  expect(scene.flood(6, 2).concurrency).toBe(1 / 32);
});

it.each([10, 100])('the baseline is not learned from a flood, however long, with one request in %i ms', (everyMs) => {
  let [sum, count] = [0, 0];
  const scene = steadyScene(everyMs);
  scene.flood(3_600, () => {
    const times = scene.isPaused ? 1 : 1 + scene.concurrency / 2;
    sum += times;
    count++;
    return times;
  });
  expect(sum / count).toBeLessThan(1.25);
});

it('a flood pauses regularly, and the baseline is learned from the pauses', () => {
  const scene = steadyScene().flood(29, 1.5, 1.5);
  expect(scene.concurrency).toBe(1 / 32);
  expect(scene.flood(121, 1.5, 1.5).concurrency).toBe(8);
});

it('a flood that slows down no tenant does not pause', () => {
  const scene = steadyScene().flood(60, 1);
  for (let second = 0; second < 100; second++) expect(scene.flood(1, 1).isPaused).toBe(false);
});

it('tenants that arrive during a flood count as soon as their baseline is known', () => {
  const scene = new Scene().flood(30, 3);
  expect(scene.concurrency).toBe(1 / 4);
  // Includes the pause that follows.
  expect(scene.flood(3, 3).flood(2, 3).concurrency).toBe(1 / 32);
});

it('a slowdown is forgotten after a second without requests of other tenants', () => {
  const { floodLimiter, now } = steadyScene().flood(5, 3);
  expect([floodLimiter.cooldownMs(1, now + 980), floodLimiter.cooldownMs(1, now + 990)]).toEqual([31, 3]);
});

it('a cooldown lasts at most half a second, except in a pause', () => {
  const { floodLimiter, now } = steadyScene().flood(29.9, 2);
  expect([floodLimiter.cooldownMs(10_000, now), floodLimiter.cooldownMs(10_000, now + 100)]).toEqual([500, 2_000]);
});

it('requests without duration and closed tenants do not limit a flood', () => {
  const scene = steadyScene();
  scene.floodLimiter.recordLatency('quick', 0, scene.now);
  scene.floodLimiter.forget('slow');
  expect(scene.flood(60, 1).concurrency).toBe(8);
});
