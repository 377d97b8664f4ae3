/** The users of a case's views. Each cohort has its own values for their parameters. */
import type { Parameter } from './tree.js';

/** The first two belong to the users whose clients pull. */
const valueChoices: readonly ((parameter: Parameter) => unknown)[] = [
  ({ values }) => values[0],
  ({ values }) => values[1],
  ({ values }) => values[2],
  // Each value also occurs in another cohort.
  ({ parameter, values }) => values[parameter % 2],
  () => null,
  // The same values as another user, so both belong to one cohort.
  ({ values }) => values[1],
];

export const userIndexes: readonly number[] = [...valueChoices.keys()];

export function userAt(index: number): string {
  return `user ${index}`;
}

/** The values that a user gives for the parameters. An unknown user has those of the first cohort. */
export function valuesFor(parameters: readonly Parameter[], userID: string): unknown[] {
  const choose = valueChoices[userIndexes.findIndex((index) => userAt(index) === userID)] ?? valueChoices[0]!;
  // In the last cohort, a limit has no value: there is no limit.
  return parameters.map((parameter) => choose(parameter) ?? null);
}
