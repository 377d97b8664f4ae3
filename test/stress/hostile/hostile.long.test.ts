/** A short run, always the same. `npm run stress -- hostile` makes others, for any length of time. */
import { expect, inject } from 'vitest';
import { it } from '../../e2e/browser/fixture.js';
import { runHostile } from './hostile.js';

it('every lost call is reported, none is applied twice, and all clients converge with the server', async () => {
  const { failures, counts } = await runHostile({
    chromium: inject('chromium'),
    seed: 1,
    clients: 10,
    seconds: 60,
    progress: () => {},
  });
  expect(failures.map((failure) => `seed 1: ${failure}`)).toEqual([]);
  // Ensures that the run is significant.
  expect(counts.applied).toBeGreaterThan(100);
}, 240_000);
