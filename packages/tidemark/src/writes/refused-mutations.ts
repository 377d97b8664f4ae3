/** Reports skipped mutations to their author's clients and to the application. */
import type { UserContext } from '../context.js';
import type { ProblemCode } from '../errors.js';
import { describeError, type Logger } from '../log.js';
import type { Refusal } from '../store/refusals.js';
import type { CallFailure } from './calls/call-failures.js';

/** A skipped mutation of a push, as passed to the option `onRefused`. */
export interface RefusedMutation<Context extends UserContext = UserContext> {
  readonly context: Context;
  readonly clientGroupID: string;
  readonly clientID: string;
  readonly mutationID: number;
  /** The mutator's name; null if no mutator has the name that was called. */
  readonly name: string | null;
  /** The code with which the same call over REST would have failed. */
  readonly code: ProblemCode;
  /** The error that the mutator or its validator threw. */
  readonly error: unknown;
  readonly requestID: string;
}

/** Called after the transaction that skips a mutation. The push does not wait for it. Its errors are only logged. */
export type OnRefused<Context extends UserContext> = (refused: RefusedMutation<Context>) => unknown;

/** The maximum length of the text stored for the user, in UTF-16 code units. */
const maxDetailLength = 1000;

/** Returns the refusal that clients receive. Omits the name of an unknown mutator, which is arbitrary input. */
export function refusalOf(name: string, { code, detail }: CallFailure): Refusal {
  return {
    name: code === 'unknown-mutator' ? null : name,
    code,
    detail: detail === undefined ? null : storable(detail),
  };
}

/** Makes a text storable. Otherwise the mutation could not be skipped, and would block its client permanently. */
function storable(detail: string): string {
  return detail.slice(0, maxDetailLength).replaceAll('\0', '\ufffd').toWellFormed();
}

/** Notifies the application. Never throws. */
export function notifyRefused<Context extends UserContext>(
  onRefused: OnRefused<Context> | undefined,
  refused: RefusedMutation<Context>,
  log: Logger,
): void {
  if (onRefused === undefined) return;
  const notification = (async () => onRefused(refused))();
  notification.catch((error: unknown) => log.error({ error: describeError(error) }, 'The option onRefused has failed'));
}
