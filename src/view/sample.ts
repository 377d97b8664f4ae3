/** The input with which views are tried before anyone asks for them. */
import type { View, ViewInput } from './define.js';

/** What the sample input is made of. */
export interface SampleOptions<Context> {
  /** A context like those that `authenticate` returns. Default: `{ userID: 'sample' }`. */
  readonly sampleContext?: Context | undefined;
  /** The schema versions that the views and mutators serve. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
}

/** An input that nobody has sent. */
export class SampleInput<Context> implements ViewInput<Context> {
  readonly ctx: Context;
  readonly profileID = '';
  readonly schemaVersion: string;

  constructor(ctx: Context, schemaVersion: string) {
    this.ctx = ctx;
    this.schemaVersion = schemaVersion;
  }
}

/** Whether a client has a view. A sample has all of them. */
export function isShown<Context>({ schemaVersions }: View<Context>, input: ViewInput<Context>): boolean {
  return input instanceof SampleInput || schemaVersions === undefined || schemaVersions.includes(input.schemaVersion);
}

/** The input that a view is asked with: a view that not all clients have is tried as one of those sees it that have it. */
export function inputFor<Context>({ schemaVersions }: View<Context>, input: ViewInput<Context>): ViewInput<Context> {
  const [first] = schemaVersions ?? [];
  if (!(input instanceof SampleInput) || first === undefined) return input;
  return new SampleInput(input.ctx as Context, first);
}

/**
 * The same input for `migrate`, a server and `status`: otherwise, one of them would refuse what another has accepted.
 */
export function sampleInput<Context>({ sampleContext, schemaVersions }: SampleOptions<Context>): ViewInput<Context> {
  const ctx = sampleContext ?? ({ userID: 'sample' } as Context);
  return new SampleInput(ctx, schemaVersions?.[0] ?? '');
}
