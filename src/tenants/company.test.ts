import { expect, it } from 'vitest';
import { Random } from '../../test/stress/oracle/random.js';
import { Company } from './company.js';

it('a tenant is alone if no other one has had a request for a second', () => {
  const company = new Company();
  expect(company.isAlone('a', 0)).toBe(true);
  company.note('a', 0);
  expect([company.isAlone('a', 10), company.isAlone('b', 10)]).toEqual([true, false]);
  company.note('b', 500);
  for (let now = 500; now < 1_500; now += 10) company.note('a', now);
  expect([company.isAlone('a', 1_499), company.isAlone('a', 1_500)]).toEqual([false, true]);
  company.note('c', 1_600);
  company.note('a', 1_700);
  expect([company.isAlone('a', 1_800), company.isAlone('b', 1_800), company.isAlone('c', 1_800)]).toEqual([
    false,
    false,
    false,
  ]);
});

/** The others' requests, and a flood of another tenant. */
class Scene {
  readonly company = new Company();
  readonly #random = new Random(1);
  readonly #everyMs: number;
  #now = 0;
  #pausedUntil = 0;
  #restMs = 0;

  /** Of each of two other tenants, whose requests are of different kinds, one comes each `everyMs` milliseconds. */
  constructor(everyMs = 10) {
    this.#everyMs = everyMs;
  }

  get now(): number {
    return this.#now;
  }

  get isPaused(): boolean {
    return this.#now < this.#pausedUntil;
  }

  /** How many of the flood's requests are served at once. */
  get allowed(): number {
    return this.company.turns / (1 + this.#restMs);
  }

  calm(seconds: number): this {
    for (const end = this.#now + 1_000 * seconds; this.#now < end; this.#now += this.#everyMs) this.#serve(1);
    return this;
  }

  /** A flood goes on, during which the others' requests take so many times as long; and so many times while it pauses. */
  flood(seconds: number, times: number | (() => number), inPauses = 1): this {
    for (const end = this.#now + 1_000 * seconds; this.#now < end; this.#now += 10) {
      const meanwhile = typeof times === 'number' ? times : times();
      if (this.#now % this.#everyMs === 0) this.#serve(this.isPaused ? inPauses : meanwhile);
      if (!this.isPaused) this.#rest();
    }
    return this;
  }

  #serve(times: number): void {
    this.company.noteServed('quick', 2 * times * this.#factor(), this.#now);
    this.company.noteServed('slow', 20 * times * this.#factor(), this.#now);
  }

  /** Mostly between a half and two. */
  #factor(): number {
    return Math.exp(this.#random.next() + this.#random.next() + this.#random.next() - 1.5);
  }

  #rest(): void {
    const ms = this.company.restMs(1, this.#now);
    if (ms > 500) this.#pausedUntil = this.#now + ms;
    else this.#restMs = ms;
  }
}

/** Until what is usual is known, and no flood goes on any more. */
const known = (everyMs?: number) => new Scene(everyMs).calm(40);

it('a flood has what the others leave: all, if these take no longer than usual, and hardly anything if they do', () => {
  expect(known().flood(60, 1).allowed).toBe(8);
  expect(known().flood(5, 1.5).allowed).toBe(1 / 32);
});

it.each([4, 10, 100, 500])('that is noticed as soon if each of them has one request in %i ms', (everyMs) => {
  expect(known(everyMs).flood(2, 3).allowed).toBe(1 / 32);
});

it.each([4, 10, 100])('and so is that they do not suffer, with one in %i ms', (everyMs) => {
  expect(known(everyMs).flood(2, 1).allowed).toBeGreaterThan(1 / 4);
});

it('what the others suffer without a flood, too, is no reason to hold one back', () => {
  const company = new Company();
  // Each request takes longer than all before.
  const serve = (now: number) => company.noteServed('a', now / 1_000, now);
  for (let now = 0; now < 40_000; now += 10) serve(now);
  for (let now = 40_000; now < 100_000; now += 10) {
    serve(now);
    company.restMs(1, now);
  }
  expect(company.turns).toBe(8);
});

it('what a flood may have changes with what the others suffer', () => {
  const scene = known().flood(5, 2);
  expect(scene.flood(60, 1).allowed).toBeGreaterThan(7);
  expect(scene.flood(6, 2).allowed).toBe(1 / 32);
});

it.each([10, 100])('what is usual is not learned from a flood, however long: one request in %i ms', (everyMs) => {
  let [sum, count] = [0, 0];
  const scene = known(everyMs);
  scene.flood(3_600, () => {
    const times = scene.isPaused ? 1 : 1 + scene.allowed / 2;
    sum += times;
    count++;
    return times;
  });
  expect(sum / count).toBeLessThan(1.25);
});

it('a flood pauses now and then, and what the others take meanwhile becomes usual', () => {
  const scene = known().flood(29, 1.5, 1.5);
  expect(scene.allowed).toBe(1 / 32);
  expect(scene.flood(121, 1.5, 1.5).allowed).toBe(8);
});

it('a flood that harms nobody does not pause', () => {
  const scene = known().flood(60, 1);
  for (let second = 0; second < 100; second++) expect(scene.flood(1, 1).isPaused).toBe(false);
});

it('tenants that come during a flood count as soon as what they usually take is known', () => {
  const scene = new Scene().flood(30, 3);
  expect(scene.allowed).toBe(1 / 4);
  // With the pause that follows.
  expect(scene.flood(3, 3).flood(2, 3).allowed).toBe(1 / 32);
});

it('what the others have suffered is forgotten when they have had no requests for a second', () => {
  const { company, now } = known().flood(5, 3);
  expect([company.restMs(1, now + 980), company.restMs(1, now + 990)]).toEqual([31, 3]);
});

it('no turn rests for longer than half a second, except in a pause', () => {
  const { company, now } = known().flood(29.9, 2);
  expect([company.restMs(10_000, now), company.restMs(10_000, now + 100)]).toEqual([500, 2_000]);
});

it('requests that take no time, and those of a tenant that was closed, do no harm', () => {
  const scene = known();
  scene.company.noteServed('quick', 0, scene.now);
  scene.company.forget('slow');
  expect(scene.flood(60, 1).allowed).toBe(8);
});
