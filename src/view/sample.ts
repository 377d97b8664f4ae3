/** The input with which views are tried before anyone asks for them. */
import type { ViewInput } from './define.js';

/** What the sample input is made of. */
export interface SampleOptions<Context> {
  /** A context like those that `authenticate` returns. Default: `{ userID: 'sample' }`. */
  readonly sampleContext?: Context | undefined;
  /** The schema versions that the views and mutators serve. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
}

/**
 * The same input for `migrate`, a server and `status`: otherwise, one of them would refuse what another has accepted.
 */
export function sampleInput<Context>({ sampleContext, schemaVersions }: SampleOptions<Context>): ViewInput<Context> {
  const ctx = sampleContext ?? ({ userID: 'sample' } as Context);
  return { ctx, profileID: '', schemaVersion: schemaVersions?.[0] ?? '' };
}
