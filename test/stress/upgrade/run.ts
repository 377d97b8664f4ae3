/**
 * `npm run stress -- upgrade --rounds 20 --seed 7`: both tests, each round with another history, whose seed is in the
 * names of the tests, and the application's servers in processes of their own. A round takes some forty seconds.
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
await startVitest('test', ['test/stress/upgrade'], { run: true, project: ['long'], reporters: ['verbose'] });
