/**
 * `npm run stress -- faults --jobs 2 --only horizon`: introduces each fault of the list into a copy of the tree, one at a time,
 * and prints which test detects it. Fails if a fault survives.
 */
import { parseArgs } from 'node:util';
import type { Fault } from './fault.js';
import { faults } from './list.js';
import { judge, runTests, type Verdict } from './run-tests.js';
import { removeCopies, TreeCopy } from './tree-copy.js';

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '2' }, only: { type: 'string', default: '' } },
});
const chosen = faults.filter(({ name }) => name.includes(values.only));
if (chosen.length === 0) throw new Error(`no fault has "${values.only}" in its name`);

function testOf(fault: Fault): string {
  return `test/${fault.test}`;
}

function describe(verdict: Verdict): string {
  if (verdict.kind === 'survived') return 'every test passed';
  if (verdict.kind === 'not run') return verdict.reason;
  return `${verdict.by.test}: ${verdict.by.message}`;
}

function report(name: string, verdict: Verdict, seconds: number): void {
  console.log(
    `${verdict.kind.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${name}\n${' '.repeat(20)}${describe(verdict)}`,
  );
}

/** True if every test passes without a fault: otherwise, a failure proves nothing. */
async function isSound(copy: TreeCopy): Promise<boolean> {
  const outcome = await runTests(copy.folder, [...new Set(chosen.map(testOf))]);
  const verdict = judge(outcome);
  if (verdict.kind !== 'survived') report('no fault at all', verdict, outcome.seconds);
  return verdict.kind === 'survived';
}

async function tryOut(copy: TreeCopy, fault: Fault): Promise<Verdict> {
  const outcome = await copy.with(fault, () => runTests(copy.folder, [testOf(fault)]));
  const verdict = judge(outcome);
  report(fault.name, verdict, outcome.seconds);
  return verdict;
}

async function tryAll(): Promise<Verdict[]> {
  const waiting = [...chosen];
  const verdicts: Verdict[] = [];
  const workers = Array.from({ length: Number(values.jobs) }, async (_, i) => {
    const copy = new TreeCopy(String(i));
    for (let fault = waiting.shift(); fault; fault = waiting.shift()) verdicts.push(await tryOut(copy, fault));
  });
  await Promise.all(workers);
  return verdicts;
}

removeCopies();
if (await isSound(new TreeCopy('sound'))) {
  const verdicts = await tryAll();
  const caught = verdicts.filter(({ kind }) => kind === 'caught').length;
  console.log(`${caught} of ${chosen.length} faults were detected`);
  if (caught < chosen.length) process.exitCode = 1;
} else {
  process.exitCode = 1;
}
removeCopies();
