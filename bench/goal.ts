/** The target of a result: a bound on its value, or on its ratio to the limit. */
export interface Goal {
  readonly of: 'value' | 'ratio';
  readonly is: 'at most' | 'at least';
  readonly bound: number;
}

export const atMost = (bound: number): Goal => ({ of: 'value', is: 'at most', bound });
export const atLeast = (bound: number): Goal => ({ of: 'value', is: 'at least', bound });
export const ratioAtMost = (bound: number): Goal => ({ of: 'ratio', is: 'at most', bound });
export const ratioAtLeast = (bound: number): Goal => ({ of: 'ratio', is: 'at least', bound });

/** A result, or the part of it that goals refer to. */
interface Measured {
  readonly value: number;
  readonly unit: string;
  readonly ratio?: number;
  readonly goals?: readonly Goal[];
}

/** Undefined if there is no goal. A goal for a ratio that was not measured is missed. */
export function isMet({ value, ratio, goals }: Measured): boolean | undefined {
  return goals?.every(({ of, is, bound }) => {
    const measured = of === 'value' ? value : (ratio ?? Number.NaN);
    return is === 'at most' ? measured <= bound : measured >= bound;
  });
}

/** For example "≤ 1.5 ms, ≤ 1.5 ×". */
export function describeGoals({ unit, goals = [] }: Measured): string {
  return goals
    .map(({ of, is, bound }) => `${is === 'at most' ? '≤' : '≥'} ${bound} ${of === 'ratio' ? '×' : unit}`.trim())
    .join(', ');
}
