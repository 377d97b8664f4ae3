import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { costsOf, type Phase, type PhaseName } from '../../bench/scale/measure/costs.js';
import { scaleDocumentsOf } from '../../bench/scale/report/page.js';
import { figuresOf, type ScaleRecord } from '../../bench/scale/report/scale-record.js';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const record = JSON.parse(read('scale.json')) as ScaleRecord;
const documents = scaleDocumentsOf(record);

describe('the scale report', () => {
  it.each(Object.keys(documents))('%s is the output of `npm run bench -- scale-report` for docs/scale.json', (name) => {
    expect(read(name)).toBe(documents[name]);
  });

  it.each(['primary', 'standby'] as const)('has the costs that follow from the measurements of the %s', (read) => {
    const { phases, design } = record[read];
    const byName = new Map(phases.map((phase): [PhaseName, Phase] => [phase.name as PhaseName, phase]));
    const ofPrimary = read === 'standby' ? record.primary.costs : undefined;
    expect(costsOf(byName, design, ofPrimary)).toEqual(figuresOf(record)[read]);
  });

  it('shows the errors of the model for every real run', () => {
    for (const { streams } of record.held) {
      expect(documents['scale.md']).toContain(`### ${streams.toLocaleString('en-US')} streams`);
    }
    const errors = documents['scale.md']!.match(/ \([+−]\d+ %\)/g) ?? [];
    // The errors of the processor time and of the rates, by the model and by the simulation.
    expect(errors.length).toBeGreaterThanOrEqual(record.held.length * 2 * 6);
  });
});
