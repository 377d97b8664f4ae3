/**
 * `npm run stress -- faults --jobs 2 --only horizon`: introduces each fault of the list into a copy of the tree, one at
 * a time, and prints which test detects it. Fails if a fault survives.
 */
import { parseArgs } from 'node:util';
import { faults } from './list.js';
import { judge, runTests, type Verdict } from './run-tests.js';
import { testFileOf, testsIn } from './sources.js';
import { removeCopies, root, TreeCopy } from './tree-copy.js';

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '2' }, only: { type: 'string', default: '' } },
});
const chosen = faults.filter(({ name }) => name.includes(values.only));
const tests = testsIn(root);
if (chosen.length === 0) throw new Error(`no fault has "${values.only}" in its name`);

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

/** @returns the number of faults that the test file detects; none if it fails without a fault */
async function tryTest(copy: TreeCopy, file: string): Promise<number> {
  const sound = await runTests(copy.folder, [file]);
  const verdict = judge(sound);
  if (verdict.kind !== 'survived') {
    report(`${file} without a fault`, verdict, sound.seconds);
    return 0;
  }
  let detected = 0;
  for (const fault of chosen.filter((fault) => testFileOf(tests, fault) === file)) {
    const outcome = await copy.with(fault, () => runTests(copy.folder, [file]));
    const verdict = judge(outcome);
    report(fault.name, verdict, outcome.seconds);
    if (verdict.kind === 'caught') detected++;
  }
  return detected;
}

removeCopies();
const waiting = [...new Set(chosen.map((fault) => testFileOf(tests, fault)!))];
let detected = 0;
await Promise.all(
  Array.from({ length: Number(values.jobs) }, async (_, i) => {
    const copy = new TreeCopy(String(i));
    for (let file = waiting.shift(); file; file = waiting.shift()) detected += await tryTest(copy, file);
  }),
);
removeCopies();
console.log(`${detected} of ${chosen.length} faults were detected`);
if (detected < chosen.length) process.exitCode = 1;
