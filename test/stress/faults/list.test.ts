/** Verifies that the faults of `npm run stress -- faults` fit the sources. */
import { describe, expect, it } from 'vitest';
import { root } from '../../support/built.js';
import { faults } from './list.js';
import { judge, type Outcome } from './run-tests.js';
import { sourcesIn, testFileOf, testsIn, withFault } from './sources.js';

const sources = sourcesIn(root);
const tests = testsIn(root);

describe('each fault', () => {
  it.each(faults)('fits the sources: $name', (fault) => {
    expect(withFault(sources, fault)).not.toEqual([]);
    expect(fault.replace).not.toBe(fault.find);
    expect(testFileOf(tests, fault)).toBeDefined();
  });

  it('has a unique name', () => {
    expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  });
});

describe('a fault', () => {
  const objection = { test: 'a.test.ts > a', message: 'no', isTimeout: false };
  const timeout = { test: 'a.test.ts > b', message: 'Test timed out in 5ms.', isTimeout: true };
  const outcome: Outcome = { objections: [], seconds: 1, isGreen: true, printed: '' };

  it.each<[string, Partial<Outcome>, object]>([
    ['is caught by a failing test', { objections: [objection], isGreen: false }, { kind: 'caught', by: objection }],
    [
      'is caught even if another test times out first',
      { objections: [timeout, objection], isGreen: false },
      { kind: 'caught', by: objection },
    ],
    ['is not caught by a timeout', { objections: [timeout], isGreen: false }, { kind: 'timed out', by: timeout }],
    ['survives if all tests pass', {}, { kind: 'survived' }],
    ['is not tested if the tests do not run', { isGreen: false, printed: 'no' }, { kind: 'not run', reason: 'no' }],
  ])('%s', (_, change, verdict) => {
    expect(judge({ ...outcome, ...change })).toEqual(verdict);
  });
});
