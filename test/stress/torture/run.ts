/**
 * The troubles that servers must survive, at full size, recorded in internals/reliability.md.
 *
 *   npm run stress -- torture 1                   a line; several are run one after the other
 *   npm run stress -- torture chaos --minutes 10  a line that runs for a time
 *   npm run stress -- torture 1 --short           as in CI; nothing is recorded
 *   npm run stress -- torture 1 --engine tidemark with the engine of @tidemark/client; nothing is recorded
 *   npm run stress -- torture --report            writes the page from the records
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeMachine } from '../../../bench/report/run-record.js';
import { printTable } from '../../../bench/report/table.js';
import { builtServer } from '../../support/built.js';
import type { Line, Torture } from './line.js';
import { lines } from './list.js';
import { pageOf } from './report/page.js';
import { currentCommit, hasPassed, internals, keepRecord, readRecords } from './report/record.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    engine: { type: 'string', default: 'replicache' },
    report: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const chosen = positionals.map((name) => lines.find(({ line }) => line === name));
if (values.report) {
  writePage();
  process.exit();
}
const { engine } = values;
const isEngine = engine === 'replicache' || engine === 'tidemark';
if (values.help || chosen.length === 0 || chosen.includes(undefined) || !isEngine) {
  console.log(
    'npm run stress -- torture <line> [--short] [--minutes <n>] [--seed <n>] [--engine replicache|tidemark] | --report\n',
  );
  for (const { line, title, minutes } of lines) console.log(`${line.padStart(6)}  ${title} (${minutes} min)`);
  process.exit(values.help ? 0 : 2);
}

const torture: Omit<Torture, 'progress'> = {
  size: values.short ? 'short' : 'full',
  code: builtServer,
  seed: Number(values.seed),
  engine,
  minutes: values.minutes === undefined ? undefined : Number(values.minutes),
};

async function runLine({ line, title, pass, run }: Line): Promise<void> {
  console.error(`${line}: ${title}`);
  const started = performance.now();
  const secondsSoFar = () => (performance.now() - started) / 1000;
  const progress = (message: string) => console.error(`${secondsSoFar().toFixed(0).padStart(5)} s  ${message}`);
  const [at, machine, commit] = [new Date().toISOString(), describeMachine(), currentCommit()];
  const { results, charts = {} } = await run({ ...torture, progress });
  printTable(results);
  console.log(`${line}: ${hasPassed({ results }) ? 'passed' : 'FAILED'} after ${secondsSoFar().toFixed(0)} s\n`);
  if (!hasPassed({ results })) process.exitCode = 1;
  if (values.short || engine !== 'replicache') return;
  for (const [name, svg] of Object.entries(charts)) writeFileSync(new URL(name, internals), svg);
  const { seed } = torture;
  const about = { line, title, pass, at, seconds: secondsSoFar(), seed, commit, machine, node: process.version };
  const record = { ...about, results, charts: Object.keys(charts) };
  keepRecord(
    record,
    lines.map((one) => one.line),
  );
  writePage();
}

function writePage(): void {
  writeFileSync(new URL('reliability.md', internals), pageOf(readRecords(), lines));
}

for (const line of chosen) await runLine(line!);
// Closed clients may still wait for a while.
process.exit();
