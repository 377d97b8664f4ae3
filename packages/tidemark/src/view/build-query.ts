/** Builds the query of a view for one user. */
import { SetupError } from '../errors.js';
import { readQuery } from '../sql.js';
import type { View, ViewInput } from './define.js';
import { ownPrefix } from './keys/prefixes.js';
import { SampleInput } from './sample.js';

/** The query of one view, and the prefix of the user's keys; undefined if all users have the same one. */
export interface BuiltQuery {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly prefix: string | undefined;
}

/**
 * @param args the arguments, as the view's validator has returned them
 * @throws SetupError if it fails for a sample, because the view needs context fields that the sample lacks.
 */
export function buildQuery<Context>(view: View<Context>, input: ViewInput<Context>, args?: unknown): BuiltQuery {
  const { ctx, profileID, schemaVersion } = input;
  try {
    const { text, values: given } = readQuery(view.query({ ctx, profileID, schemaVersion, args: args as never }));
    // A sample context lacks the application's own fields.
    const values = input instanceof SampleInput ? given.map((value) => value ?? null) : given;
    return { text, values, prefix: ownPrefix(view, input) };
  } catch (error) {
    if (!(input instanceof SampleInput) || error instanceof SetupError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupError(
      `its query or prefix cannot be built for the sample context (${reason}). Set the option \`sampleContext\` to a ` +
        'context with all fields that `authenticate` returns',
      { cause: error },
    );
  }
}
