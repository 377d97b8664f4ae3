/**
 * `npm run stress -- upgrade --rounds 20 --seed 7`: both tests with another history in each round, whose seed is in the
 * tests' names. The application's servers run in their own processes. A round takes about forty seconds.
 */
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
process.env.TIDEMARK_UPGRADE_ROUNDS = values.rounds;
process.env.TIDEMARK_UPGRADE_SEED = values.seed;
process.env.TIDEMARK_UPGRADE_PROCESSES = 'true';
await startVitest('test', ['test/stress/upgrade'], { run: true, project: ['nightly'], reporters: ['verbose'] });
