/** What views are tried with before anybody asks for them. */
import type { ViewInput } from './define.js';

export interface SampleOptions<Context> {
  /** A context like those of `authenticate`. Default: `{ userID: 'sample' }`. */
  readonly sampleContext?: Context | undefined;
  /** The schema versions that the views and mutators serve. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
}

/**
 * One and the same for `migrate`, for a server and for `status`: else one of them would refuse what another has let
 * pass.
 */
export function sampleInput<Context>({ sampleContext, schemaVersions }: SampleOptions<Context>): ViewInput<Context> {
  const ctx = sampleContext ?? ({ userID: 'sample' } as Context);
  return { ctx, profileID: '', schemaVersion: schemaVersions?.[0] ?? '' };
}
