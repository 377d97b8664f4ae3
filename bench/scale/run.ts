/**
 * Measures the cost of operations, part by part, and holds many streams open to verify the model of capacity. Linux
 * only.
 *
 *   npm run bench -- scale                 everything, about twelve minutes
 *   npm run bench -- scale --quick         a smoke run
 *   npm run bench -- scale --publish       also writes docs/scale.json, docs/scale.md and its plots
 *   npm run bench -- scale --streams 5000  holds fewer streams open than 20,000
 *   npm run bench -- scale --standbys 2    holds them open with this many standbys (default 2)
 */
import { parseArgs } from 'node:util';
import { beginRun, packageVersion, writeResult } from '../report/run-record.js';
import { type Held, type HeldOptions, hold } from './held.js';
import { type Counts, measure } from './measure/measure.js';
import { settings } from './measure/stage.js';
import { assumptions } from './model/workload.js';
import { publish } from './report/publish.js';
import { figuresOf, type ScaleRecord } from './report/scale-record.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    publish: { type: 'boolean', default: false },
    streams: { type: 'string' },
    standbys: { type: 'string', default: '2' },
  },
});
if (process.platform !== 'linux') {
  console.error('This needs Linux, which tells the processor time of each process.');
  process.exit(1);
}
const { quick: isQuick } = options;
const streams = Number(options.streams ?? (isQuick ? 1_000 : 20_000));
const standbys = Number(options.standbys);
if (!(streams > 0 && standbys >= 0)) {
  console.error('--streams and --standbys are numbers.');
  process.exit(2);
}

const usualCounts: Counts = {
  seats: 4_000,
  groups: 4_000,
  writes: 150,
  firstPulls: 100,
  pushes: 4_000,
  unchanged: 40_000,
  quietSeconds: 20,
  heldSeconds: 30,
};
const quickCounts: Counts = {
  seats: 400,
  groups: 400,
  writes: 20,
  firstPulls: 10,
  pushes: 400,
  unchanged: 2_000,
  quietSeconds: 1,
  heldSeconds: 5,
};
const counts = isQuick ? quickCounts : usualCounts;

const { machine, at, secondsSoFar, progress } = beginRun();
const within = (what: string) => (message: string) => progress(`${what}: ${message}`);

const primary = await measure(counts, within('the primary is read'));
const standby = await measure(counts, within('a standby is read'), primary);
const figures = figuresOf({ primary, standby });
const usual: Pick<HeldOptions, 'servers' | 'seconds' | 'share' | 'shareWith' | 'cores'> = {
  servers: Math.max(1, standbys),
  seconds: isQuick ? 5 : 40,
  share: 0.35,
  shareWith: standbys,
  cores: machine.cpus,
};
const holding: readonly HeldOptions[] = [
  { ...usual, streams, standbys, seats: 'team' },
  { ...usual, streams, standbys, seats: 'user' },
  { ...usual, streams: Math.ceil(streams / 10), standbys, seats: 'user' },
  { ...usual, streams: Math.ceil(streams / 10), standbys: 0, seats: 'user' },
];
const held: Held[] = [];
for (const one of holding) held.push(await hold(one, figures, assumptions, within('held')));
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
  assumptions,
  primary,
  standby,
  held,
};
console.log(`Written to ${writeResult(`scale-${at}`, record)}`);
if (options.publish) publish(record);
