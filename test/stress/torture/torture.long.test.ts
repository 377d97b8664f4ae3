/** The lines of internals/reliability.md, in short. `npm run stress -- torture` runs them in full. */
import { expect, it } from 'vitest';
import { isMet } from '../../../bench/goal.js';
import { builtServer } from '../../support/built.js';
import { lines } from './list.js';

/** This line runs tests itself. */
const ofTrials = '17';

it.each(lines.filter(({ line }) => line !== ofTrials))('line $line: $pass', async ({ run }) => {
  const { results } = await run({
    size: 'short',
    code: builtServer,
    seed: 1,
    engine: 'replicache',
    minutes: undefined,
    progress: () => {},
  });
  // Figures with a unit depend on the machine.
  const counts = results.filter(({ unit }) => unit === '');
  expect(counts.filter((result) => isMet(result) === false)).toEqual([]);
  expect(counts.length).toBeGreaterThan(1);
});
