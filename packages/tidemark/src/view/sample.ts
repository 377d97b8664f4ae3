/** The input with which Tidemark checks views before a client requests them. */
import type { View, ViewInput } from './define.js';

/** The application's options for the sample input. */
export interface SampleOptions<Context> {
  /** A context like those that `authenticate` returns. Default: `{ userID: 'sample' }`. */
  readonly sampleContext?: Context | undefined;
  /** The schema versions that the views and mutators serve. Default: any. */
  readonly schemaVersions?: readonly string[] | undefined;
}

/** An input that does not come from a request. */
export class SampleInput<Context> implements ViewInput<Context> {
  readonly ctx: Context;
  readonly profileID = '';
  readonly schemaVersion: string;

  constructor(ctx: Context, schemaVersion: string) {
    this.ctx = ctx;
    this.schemaVersion = schemaVersion;
  }
}

/** Checks whether a client receives a view. A sample receives all views. */
export function isShown<Context>({ schemaVersions }: View<Context>, input: ViewInput<Context>): boolean {
  return input instanceof SampleInput || schemaVersions === undefined || schemaVersions.includes(input.schemaVersion);
}

/** Returns the input for a view's query. In a sample, the schema version is one for which the view exists. */
export function inputFor<Context>({ schemaVersions }: View<Context>, input: ViewInput<Context>): ViewInput<Context> {
  const [first] = schemaVersions ?? [];
  if (!(input instanceof SampleInput) || first === undefined) return input;
  return new SampleInput(input.ctx as Context, first);
}

/** Returns the sample input. `migrate`, servers and `status` use the same, so they all accept the same views. */
export function sampleInput<Context>({ sampleContext, schemaVersions }: SampleOptions<Context>): ViewInput<Context> {
  const ctx = sampleContext ?? ({ userID: 'sample' } as Context);
  return new SampleInput(ctx, schemaVersions?.[0] ?? '');
}
