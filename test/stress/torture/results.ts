/** Figures of a line, with the bounds that they must keep. */
import { atLeast, atMost } from '../../../bench/goal.js';
import type { Result } from '../../../bench/scenario.js';

/** What must not be. */
export function none(name: string, value: number, note?: string): Result {
  return { name, value, unit: '', goals: [atMost(0)], ...(note !== undefined && { note }) };
}

/** What there must be some of, else nothing was tried. */
export function some(name: string, value: number, least = 1): Result {
  return { name, value, unit: '', goals: [atLeast(least)] };
}

/** What depends on the machine. Trials do not judge it. */
export function atMostOf(name: string, value: number, unit: 'ms' | 'MB' | 'MB/h' | 'clients', bound: number): Result {
  return { name, value, unit, goals: [atMost(bound)] };
}

/** What is only told. */
export function told(name: string, value: number, unit = ''): Result {
  return { name, value, unit };
}
