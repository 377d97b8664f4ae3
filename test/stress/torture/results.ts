/** The figures of a line, with their bounds. */
import { atLeast, atMost } from '../../../bench/goal.js';
import type { Result } from '../../../bench/scenario.js';

/** A figure that must be zero. */
export function none(name: string, value: number, note?: string): Result {
  return { name, value, unit: '', goals: [atMost(0)], ...(note !== undefined && { note }) };
}

/** A figure that must not be zero; otherwise nothing was tried. */
export function some(name: string, value: number, min = 1): Result {
  return { name, value, unit: '', goals: [atLeast(min)] };
}

/** A figure that depends on the machine. Trials do not judge it. */
export function atMostOf(name: string, value: number, unit: 'ms' | 'MB' | 'MB/h' | 'clients', bound: number): Result {
  return { name, value, unit, goals: [atMost(bound)] };
}

/** A figure without a goal. */
export function figure(name: string, value: number, unit = ''): Result {
  return { name, value, unit };
}
