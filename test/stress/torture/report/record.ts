/** The records of all lines: the last full run of each, as JSON. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isMet } from '../../../../bench/goal.js';
import type { Machine } from '../../../../bench/report/run-record.js';
import type { Result } from '../../../../bench/scenario.js';

export interface LineRecord {
  readonly line: string;
  readonly title: string;
  readonly pass: string;
  readonly at: string;
  readonly seconds: number;
  readonly seed: number;
  /** The commit of the run, followed by `+` if there were changes. */
  readonly commit: string;
  readonly machine: Machine;
  readonly node: string;
  readonly results: readonly Result[];
  /** The file names of its charts, beside the page. */
  readonly charts: readonly string[];
}

export const internals: URL = new URL('../../../../internals/', import.meta.url);
const path = new URL('reliability.json', internals);

export function readRecords(): LineRecord[] {
  return JSON.parse(readFileSync(path, 'utf8')) as LineRecord[];
}

/** Replaces the previous record of the line. The records are in the order of the lines. */
export function keepRecord(record: LineRecord, order: readonly string[]): void {
  const others = readRecords().filter(({ line }) => line !== record.line);
  const records = [...others, record].sort((a, b) => order.indexOf(a.line) - order.indexOf(b.line));
  writeFileSync(path, `${JSON.stringify(records, null, 2)}\n`);
}

/** True if every goal was reached. */
export function hasPassed({ results }: Pick<LineRecord, 'results'>): boolean {
  return results.every((result) => isMet(result) !== false);
}

export function currentCommit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: internals, encoding: 'utf8' }).trim();
  const sources = [':(top,glob)packages/*/src/**', ':/packages/tidemark/sql'];
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', ...sources) === '' ? '' : '+');
}
