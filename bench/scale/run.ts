/**
 * Measures the processor time of operations, with reads from the primary and from a standby. Linux only.
 *
 *   npm run bench -- scale            everything, about eight minutes
 *   npm run bench -- scale --quick    a smoke run
 *   npm run bench -- scale --publish  also writes internals/scale.json and internals/scale.md
 */
import { parseArgs } from 'node:util';
import { beginRun, packageVersion, writeResult } from '../report/run-record.js';
import { settings } from './measure/deployment.js';
import { type Counts, designOf, measure } from './measure/measure.js';
import { publish } from './report/publish.js';
import type { ScaleRecord } from './report/scale-record.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    publish: { type: 'boolean', default: false },
  },
});
if (process.platform !== 'linux') {
  console.error('This needs Linux, which reports the processor time of each process.');
  process.exit(1);
}
const { quick: isQuick } = options;

const counts: Counts = isQuick
  ? {
      subscribers: 400,
      clientGroups: 400,
      writes: 20,
      firstPulls: 10,
      pushes: 400,
      unchangedPulls: 2_000,
      idleSeconds: 1,
      holdSeconds: 5,
    }
  : {
      subscribers: 4_000,
      clientGroups: 4_000,
      writes: 150,
      firstPulls: 100,
      pushes: 4_000,
      unchangedPulls: 40_000,
      idleSeconds: 20,
      holdSeconds: 30,
    };

const { machine, at, secondsSoFar, progress } = beginRun();
const primary = await measure(counts, false, (phase) => progress(`reading from the primary: ${phase}`));
const standby = await measure(counts, true, (phase) => progress(`reading from a standby: ${phase}`));
progress('done');
const record: ScaleRecord = {
  at,
  seconds: secondsSoFar(),
  machine,
  node: process.version,
  tidemark: packageVersion(),
  postgres: primary.postgres,
  settings,
  isQuick,
  design: designOf(counts),
  primary: primary.phases,
  standby: standby.phases,
};
console.log(`Written to ${writeResult(`scale-${at}`, record)}`);
if (options.publish) publish(record);
