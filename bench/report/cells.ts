/** Writes a result as text, for the terminal and the page. */
import { describeGoals, isMet } from '../goal.js';
import type { Result } from '../scenario.js';

export interface Cells {
  readonly name: string;
  readonly value: string;
  readonly limit: string;
  readonly ratio: string;
  readonly goal: string;
  /** "yes", "no", or empty if there is no goal. */
  readonly met: string;
  readonly remarks: string;
}

export function cellsOf(result: Result): Cells {
  const { name, value, unit, limit, limitName, ratio, note } = result;
  const met = isMet(result);
  return {
    name,
    value: `${digits(value)} ${unit}`.trim(),
    limit: limit === undefined ? '' : `${digits(limit)} ${unit}`.trim(),
    ratio: ratio === undefined ? '' : `${ratio.toFixed(2)} ×`,
    goal: describeGoals(result),
    met: met === undefined ? '' : met ? 'yes' : 'no',
    remarks: [limitName && `against ${limitName}`, note].filter(Boolean).join('; '),
  };
}

/** Three significant digits, or the whole number. */
export function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
