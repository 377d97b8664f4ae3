import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scalePageOf } from '../../bench/scale/report/page.js';
import type { ScaleRecord } from '../../bench/scale/report/scale-record.js';

const read = (name: string) => readFileSync(new URL(`../../internals/${name}`, import.meta.url), 'utf8');
const record = JSON.parse(read('scale.json')) as ScaleRecord;

/** The cells of the rows of a section's table, without its head. */
function rowsOf(section: string): string[][] {
  const text = read('scale.md')
    .split(/^## /m)
    .find((part) => part.startsWith(section))!;
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the scale report', () => {
  it('is the output of `npm run bench -- scale-report` for internals/scale.json', () => {
    expect(read('scale.md')).toBe(scalePageOf(record));
  });

  it('is made from a full run', () => {
    expect(record.isQuick).toBe(false);
  });
});

describe('the example of the scale report', () => {
  const rows = rowsOf('Estimate processors');
  const operations = rows.slice(0, -1);
  const [server, postgres] = [4, 5] as const;

  it('uses the costs of the table, rounded to two digits', () => {
    const costs = new Map(rowsOf('Costs').map(([name, ...cells]) => [name, cells]));
    const rounded = (cell: string) => Number(Number(cell).toPrecision(2));
    for (const [name, , ...cells] of operations) {
      expect(cells.slice(0, 2).map(Number), name).toEqual(costs.get(name)!.slice(0, 2).map(rounded));
    }
  });

  it('multiplies and adds correctly', () => {
    for (const [name, times, ...cells] of operations) {
      const [serverCost, postgresCost, serverMs, postgresMs] = cells.map(Number);
      expect(Math.abs((Number(times) * serverCost!) / 1000 - serverMs!), name).toBeLessThan(0.051);
      expect(Math.abs((Number(times) * postgresCost!) / 1000 - postgresMs!), name).toBeLessThan(0.051);
    }
    for (const column of [server, postgres]) {
      const sum = operations.reduce((all, row) => all + Number(row[column]), 0);
      expect(Number(rows.at(-1)![column])).toBeCloseTo(sum, 6);
    }
  });
});
