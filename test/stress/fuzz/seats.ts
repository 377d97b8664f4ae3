/** Who asks for a case's views: each seat gives its own values for their parameters. */
import type { Parameter } from './tree.js';

/** The first two are those of the users whose clients pull. */
const seats: readonly ((parameter: Parameter) => unknown)[] = [
  ({ values }) => values[0],
  ({ values }) => values[1],
  ({ values }) => values[2],
  // Each value is one of another seat's.
  ({ parameter, values }) => values[parameter % 2],
  () => null,
  // Who has the same values as another sits with them.
  ({ values }) => values[1],
];

export const places: readonly number[] = [...seats.keys()];

export function userAt(place: number): string {
  return `user ${place}`;
}

/** What a user gives for the parameters. Whoever is not known gives what the first one does. */
export function valuesFor(parameters: readonly Parameter[], userID: string): unknown[] {
  const seat = seats[places.findIndex((place) => userAt(place) === userID)] ?? seats[0]!;
  // A limit has no value for the last seat: then it is none.
  return parameters.map((parameter) => seat(parameter) ?? null);
}
