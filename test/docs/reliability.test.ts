import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lines } from '../stress/torture/list.js';
import { pageOf } from '../stress/torture/report/page.js';
import { internals, type LineRecord, readRecords } from '../stress/torture/report/record.js';

const records = readRecords();

it('internals/reliability.md is the output of `npm run stress -- torture --report` for internals/reliability.json', () => {
  expect(readFileSync(new URL('reliability.md', internals), 'utf8')).toBe(pageOf(records, lines));
});

it('internals/reliability.json has only existing lines, in order, and their charts exist', () => {
  const order = lines.map(({ line }) => line);
  expect(records.map(({ line }) => line)).toEqual(order.filter((name) => records.some(({ line }) => line === name)));
  expect(records.flatMap(({ charts }) => charts).filter((name) => !existsSync(new URL(name, internals)))).toEqual([]);
});

it('the page shows whether each line has passed and whether each figure meets its goal', () => {
  const [line] = lines;
  const record: LineRecord = {
    ...{
      line: line!.line,
      title: 'Kills',
      pass: 'nothing is lost',
      at: '2026-01-02T03:04:05.678Z',
      seconds: 61,
      seed: 7,
    },
    ...{ commit: 'abc1234', node: 'v20.0.0', charts: ['chart.svg'] },
    machine: { cpus: 2, model: 'CPU', memoryMB: 2048, platform: 'linux x64', load: 0 },
    results: [{ name: 'mutations lost', value: 1, unit: '', goals: [{ of: 'value', is: 'at most', bound: 0 }] }],
  };
  const page = pageOf([record], lines);
  expect(page).toContain('| [1](#line-1) | Kills | nothing is lost | **failed** | 2026-01-02, `abc1234` |');
  expect(page).toContain('| mutations lost | 1 | ≤ 0 | no |  |');
  expect(page).toContain('2 minutes, seed 7, on 2 × CPU, 2 GB, linux x64, Node v20.0.0.');
  expect(page).toContain('![Kills](chart.svg)');
  expect(page.match(/not run yet/g)).toHaveLength(lines.length - 1);
  const passed = pageOf([{ ...record, results: [{ ...record.results[0]!, value: 0 }] }], lines);
  expect(passed).toContain('**passed**');
});
