import { findUnstorable } from '../protocol/json.js';
import type { Mutator, Mutators } from './mutators.js';
import { InvalidArgsError, validate } from './validate.js';

/** There is no mutator of this name. */
export class UnknownMutatorError extends Error {
  override readonly name = 'UnknownMutatorError';

  constructor() {
    super('no mutator has this name');
  }
}

/** A mutator, and the args to run it with. */
export interface PreparedCall<Tx, Context> {
  readonly mutator: Mutator<Tx, Context>;
  readonly args: unknown;
}

/**
 * Finds a mutator and validates its args.
 * @throws UnknownMutatorError, InvalidArgsError, and whatever a validator throws
 */
export async function prepare<Tx, Context>(
  mutators: Mutators<Tx, Context>,
  name: string,
  args: unknown,
): Promise<PreparedCall<Tx, Context>> {
  const mutator = mutators.get(name);
  if (mutator === undefined) throw new UnknownMutatorError();
  const unstorable = findUnstorable(args);
  if (unstorable !== undefined) throw new InvalidArgsError([{ message: unstorable }]);
  const valid = await validate(mutator.validator, args);
  return { mutator, args: mutator.validates ? args : valid };
}
