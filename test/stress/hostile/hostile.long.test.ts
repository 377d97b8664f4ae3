/** A short run, the same in each. `npm run stress -- hostile` makes others, for as long as you like. */
import { expect, inject } from 'vitest';
import { it } from '../../e2e/browser/fixture.js';
import { runHostile } from './hostile.js';

it('no call is lost that was not reported, none is applied twice, and all clients end up equal to the server', async () => {
  const { failures, counts } = await runHostile({
    chromium: inject('chromium'),
    seed: 1,
    clients: 10,
    seconds: 60,
    progress: () => {},
  });
  expect(failures.map((failure) => `seed 1: ${failure}`)).toEqual([]);
  // What the run is worth.
  expect(counts.applied).toBeGreaterThan(100);
}, 240_000);
