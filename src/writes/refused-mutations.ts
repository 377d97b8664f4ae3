/** What becomes known of a mutation that was skipped: to its author's clients, and to the application. */
import type { UserContext } from '../context.js';
import type { ProblemCode } from '../errors.js';
import { describeError, type Logger } from '../log.js';
import type { Refusal } from '../store/refusals.js';
import type { CallFailure } from './call-failures.js';

/** A mutation of a push that was skipped, as the option `onRefused` is told. */
export interface RefusedMutation<Context extends UserContext = UserContext> {
  readonly context: Context;
  readonly clientGroupID: string;
  readonly clientID: string;
  readonly mutationID: number;
  /** The mutator's name; null if there is no mutator of the name that was called. */
  readonly name: string | null;
  /** What a call over REST would have been answered with. */
  readonly code: ProblemCode;
  /** What the mutator, or its validator, has thrown. */
  readonly error: unknown;
  readonly requestID: string;
}

/** Called after the transaction that skips a mutation. Nobody waits for it; what it throws is only logged. */
export type OnRefused<Context extends UserContext> = (refused: RefusedMutation<Context>) => unknown;

/** The longest text that is kept for the user, in UTF-16 units. */
const longestDetail = 1000;

/** What clients are told. Without the name of a mutator that does not exist: that is whatever its caller thought of. */
export function refusalOf(name: string, { code, detail }: CallFailure): Refusal {
  return {
    name: code === 'unknown-mutator' ? null : name,
    code,
    detail: detail === undefined ? null : storable(detail),
  };
}

/** What cannot be stored would keep the mutation from being skipped, and so hold up its client for ever. */
function storable(detail: string): string {
  return detail.slice(0, longestDetail).replaceAll('\0', '\ufffd').toWellFormed();
}

/** Tells the application. Does not throw. */
export function tellRefused<Context extends UserContext>(
  onRefused: OnRefused<Context> | undefined,
  refused: RefusedMutation<Context>,
  log: Logger,
): void {
  if (onRefused === undefined) return;
  const telling = (async () => onRefused(refused))();
  telling.catch((error: unknown) => log.error({ error: describeError(error) }, 'The option onRefused has failed'));
}
