/**
 * `npm run stress -- hostile --seed 7 --clients 50 --minutes 10`: a long run on its own Postgres. `--pace 2` halves the
 * load: 50 clients keep two fast cores busy, and miss the deadlines on slower ones.
 */
import { parseArgs } from 'node:util';
import { findChromium, howToGetChromium } from '../../e2e/browser/chromium.js';
import { startCluster } from '../../support/cluster.js';
import { runHostile } from './hostile.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '50' },
    minutes: { type: 'string', default: '10' },
    pace: { type: 'string', default: '1' },
  },
});
const seed = Number(values.seed);
const chromium = findChromium();
if (!chromium) throw new Error(howToGetChromium);

const cluster = await startCluster();
process.env.TIDEMARK_TEST_CLUSTER = cluster.url;
try {
  const started = performance.now();
  console.log(`seed ${seed}`);
  const { failures, counts } = await runHostile({
    chromium,
    seed,
    clients: Number(values.clients),
    seconds: Number(values.minutes) * 60,
    pace: Number(values.pace),
    progress: (message) =>
      console.log(`${((performance.now() - started) / 1_000).toFixed(0).padStart(5)} s  ${message}`),
  });
  console.log(counts);
  for (const failure of failures) console.log(`\nseed ${seed}: ${failure}`);
  console.log(failures.length === 0 ? 'passed' : `FAILED: ${failures.length} failures`);
  if (failures.length > 0) process.exitCode = 1;
} finally {
  await cluster.stop();
}
process.exit();
