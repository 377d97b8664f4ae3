import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Looks } from '../window/looks.js';
import type { Window } from '../window/window.js';
import { PacedLooks } from './paced-looks.js';

const window = {} as Window;

/** Looks that are answered as told. */
const answered = (look: () => Promise<unknown>) =>
  new PacedLooks({ look: () => look().then(() => window) } as unknown as Looks);

describe('a primary that does not answer a look', () => {
  it('counts as away after five seconds, and then after one, until it answers', async () => {
    let isThere = false;
    const never = new Promise(() => {});
    const looks = answered(() => (isThere ? Promise.resolve() : never));
    const secondsOf = async (expected: Window | undefined) => {
      const begun = performance.now();
      expect(await looks.look()).toBe(expected);
      return (performance.now() - begun) / 1000;
    };
    expect(await secondsOf(undefined)).toBeGreaterThan(4.9);
    expect(await secondsOf(undefined)).toBeLessThan(4);
    isThere = true;
    expect(await secondsOf(window)).toBeLessThan(1);
    isThere = false;
    expect(await secondsOf(undefined)).toBeGreaterThan(4.9);
  }, 60_000);

  it('is not known to be away because of an error', async () => {
    expect(await answered(() => Promise.reject(new Error('refused'))).look()).toBeUndefined();
  });

  it('is not away while this process is too busy to read its answer', async () => {
    const looks = answered(async () => {
      const reading = readFile(import.meta.filename);
      const until = performance.now() + 1_500;
      setImmediate(() => {
        while (performance.now() < until);
      });
      await reading;
      // Reading a file takes several steps, each of which waits for the process.
    });
    expect(await looks.look()).toBe(window);
  });
});
