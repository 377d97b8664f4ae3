import { isMet } from '../../../../bench/goal.js';
import { root } from '../../../support/built.js';
import { runTests } from '../../faults/run-tests.js';
import { copyBroken, removeCopies } from '../../oracle/broken-copy.js';
import { faults, type SeededFault } from '../faults.js';
import type { Line, Torture } from '../line.js';
import { none, some } from '../results.js';

/** The kills hit at random points, so there can be several tries. */
const tries = 3;
const tests = ['calls', 'fuzz', 'oracle', 'standbys'].map((name) => `test/stress/detectors/${name}.test.ts`);

/** The short form runs none of the tests, because they take ten minutes. */
export const brokenVariants: Line = {
  line: '17',
  title:
    'Faults in copies of the code, among them: no row lock, lastMutationID outside the transaction, a cursor of transaction IDs, a cursor in log order',
  pass: 'each fault is detected, by a line of this page in its short form and by the tests of the suite',
  minutes: 15,
  async run(torture) {
    let caught = 0;
    for (const fault of faults) {
      const isCaught = await finds(fault, torture);
      torture.progress(`line ${fault.line.line}, ${fault.name}: ${isCaught ? 'caught' : 'NOT CAUGHT'}`);
      if (isCaught) caught++;
    }
    const seeded = some('faults that a line of this page detects', caught, faults.length);
    if (torture.size === 'short') return { results: [seeded] };
    const { objections, isGreen } = await runTests(root, tests);
    for (const { test, message } of objections) console.error(`  ${test}: ${message}`);
    return {
      results: [seeded, none('tests of broken copies that failed', isGreen ? 0 : Math.max(1, objections.length))],
    };
  },
};

async function finds({ name, line, figure, patches }: SeededFault, torture: Torture): Promise<boolean> {
  const code = copyBroken('dist', name, patches);
  try {
    for (let seed = torture.seed; seed < torture.seed + tries; seed++) {
      const { results } = await line.run({ ...torture, size: 'short', code, seed, progress: () => {} });
      if (results.some((result) => figure.test(result.name) && isMet(result) === false)) return true;
    }
    return false;
  } finally {
    removeCopies();
  }
}
