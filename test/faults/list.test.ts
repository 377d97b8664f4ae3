/** The list of faults that `npm run faults` tries out fits the sources. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { patched } from '../patch.js';
import { faults } from './list.js';
import { judge, type Outcome } from './run-tests.js';

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url));

describe('each fault', () => {
  it.each(faults)('$name', ({ tests, ...patch }) => {
    expect(patch.file).toMatch(/^(src|sql)\//);
    const sound = readFileSync(path(patch.file), 'utf8');
    expect(patched(sound, patch)).not.toBe(sound);
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((file) => !existsSync(path(file)))).toEqual([]);
  });

  it('has a name of its own', () => {
    expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  });
});

describe('a fault', () => {
  const objection = { test: 'a.test.ts > a', message: 'no', isTimeout: false };
  const timeout = { test: 'a.test.ts > b', message: 'Test timed out in 5ms.', isTimeout: true };
  const outcome: Outcome = { objections: [], seconds: 1, isGreen: true, printed: '' };

  it.each<[string, Partial<Outcome>, object]>([
    [
      'is caught by a test that objects',
      { objections: [objection], isGreen: false },
      { kind: 'caught', by: objection },
    ],
    [
      'is caught after a timeout too',
      { objections: [timeout, objection], isGreen: false },
      { kind: 'caught', by: objection },
    ],
    ['is not caught by a timeout', { objections: [timeout], isGreen: false }, { kind: 'timed out', by: timeout }],
    ['survives where all tests pass', {}, { kind: 'survived' }],
    ['is not tried where tests do not run', { isGreen: false, printed: 'no' }, { kind: 'not run', reason: 'no' }],
  ])('%s', (_, change, verdict) => {
    expect(judge({ ...outcome, ...change })).toEqual(verdict);
  });
});
