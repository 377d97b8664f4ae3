import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { atLeast, atMost, describeGoals, isMet, ratioAtMost } from '../../bench/goal.js';
import { documentsOf } from '../../bench/report/page.js';
import type { RunRecord } from '../../bench/report/run-record.js';
import { scenarios } from '../../bench/scenarios/all.js';

const read = (name: string) => readFileSync(new URL(`../../internals/${name}`, import.meta.url), 'utf8');
const run = JSON.parse(read('performance.json')) as RunRecord;
const documents = documentsOf(run);

describe('the performance report', () => {
  it.each(Object.keys(documents))(
    '%s is the output of `npm run bench -- report` for internals/performance.json',
    (name) => {
      expect(read(name)).toBe(documents[name]);
    },
  );

  it('shows each result of the run in its own line', () => {
    const lines = documents['performance.md']!.split('\n').filter((line) => line.startsWith('| '));
    for (const { name } of run.scenarios.flatMap(({ results }) => results)) {
      expect(lines.filter((line) => line.startsWith(`| ${name} |`)).length, name).toBeGreaterThan(0);
    }
  });

  it('has the results of all scenarios from a full run', () => {
    expect(run.scale).not.toBe('quick');
    expect(run.scenarios.map(({ name }) => name)).toEqual(Object.keys(scenarios));
  });

  it('shows whether each result meets its goal', () => {
    const results = [
      { name: 'below', value: 1, unit: 'ms', goals: [atMost(2)] },
      { name: 'above', value: 3, unit: 'ms', limit: 1, limitName: 'half', ratio: 3, goals: [atMost(2)] },
    ];
    const page = documentsOf({ ...run, scenarios: [{ name: 'toy', about: 'A toy.', results }] })['performance.md'];
    expect(page).toContain('| below | 1.00 ms |  |  | ≤ 2 ms | yes |  |');
    expect(page).toContain('| above | 3.00 ms | 1.00 ms | 3.00 × | ≤ 2 ms | no | against half |');
    expect(page).toContain('**1 of 2 goals are met.** Those that are missed:\n\n- above: 3.00 ms, 3.00 × (≤ 2 ms)\n');
  });
});

describe('a goal', () => {
  it.each([
    [{ value: 2, unit: 'ms', goals: [atMost(2)] }, true],
    [{ value: 2.1, unit: 'ms', goals: [atMost(2)] }, false],
    [{ value: 1.9, unit: '/s', goals: [atLeast(2)] }, false],
    [{ value: 1, ratio: 1.6, unit: 'ms', goals: [atMost(2), ratioAtMost(1.5)] }, false],
    [{ value: 1, ratio: 1.5, unit: 'ms', goals: [atMost(2), ratioAtMost(1.5)] }, true],
    [{ value: 1, unit: 'ms', goals: [ratioAtMost(1.5)] }, false],
    [{ value: 1, unit: 'ms' }, undefined],
  ])('of %j has the outcome %s', (result, met) => {
    expect(isMet(result)).toBe(met);
  });

  it('is written with the unit, or as a ratio', () => {
    expect(describeGoals({ value: 1, unit: 'ms', goals: [atMost(1.5), ratioAtMost(2)] })).toBe('≤ 1.5 ms, ≤ 2 ×');
    expect(describeGoals({ value: 1, unit: '', goals: [atLeast(50)] })).toBe('≥ 50');
  });
});
