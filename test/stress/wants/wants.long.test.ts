/**
 * Clients that want other instances of views with each pull, the same in each run. `npm run stress -- wants` generates
 * others, for any length of time.
 */
import { expect, it } from 'vitest';
import { createEmptyDatabase } from '../../support/database.js';
import { runWants } from './wants.js';

it.each([1, 2, 3])('every client has what it wants, and nothing else: seed %i', async (seed) => {
  const database = await createEmptyDatabase();
  try {
    const { differences, resets, changedWants, stages } = await runWants({ seed, pulls: 250, database });
    expect(differences).toEqual([]);
    expect(resets).toBe(0);
    // Ensures that the run is significant.
    expect(changedWants).toBeGreaterThan(50);
    expect(stages).toBeGreaterThan(3);
  } finally {
    await database.drop();
  }
});
