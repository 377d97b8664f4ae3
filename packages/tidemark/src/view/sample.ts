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
  readonly #args: SampleArgs;

  constructor(ctx: Context, schemaVersion: string, args: SampleArgs) {
    this.ctx = ctx;
    this.schemaVersion = schemaVersion;
    this.#args = args;
  }

  /** Returns the sample arguments of a view. */
  argsOf(view: string): unknown {
    return this.#args.get(view)?.args;
  }

  /** Returns arguments of a view in each of which one differs from the sample. */
  variationsOf(view: string): readonly unknown[] {
    return this.#args.get(view)?.variations ?? [];
  }

  /** Returns the same input for another schema version. */
  withSchemaVersion(schemaVersion: string): SampleInput<Context> {
    return new SampleInput(this.ctx, schemaVersion, this.#args);
  }
}

/** Arguments of a view, as its validator has returned them. */
export interface ViewSample {
  readonly args: unknown;
  /** Arguments in each of which one differs, if the validator accepts another one. */
  readonly variations: readonly unknown[];
}

/** The sample arguments of the views that have arguments, by the names of the views. */
export type SampleArgs = ReadonlyMap<string, ViewSample>;

/** Checks whether a client receives a view. A sample receives all views. */
export function isShown<Context>({ schemaVersions }: View<Context>, input: ViewInput<Context>): boolean {
  return input instanceof SampleInput || schemaVersions === undefined || schemaVersions.includes(input.schemaVersion);
}

/** Returns the input for a view's query. In a sample, the schema version is one for which the view exists. */
export function inputFor<Context>({ schemaVersions }: View<Context>, input: ViewInput<Context>): ViewInput<Context> {
  const [first] = schemaVersions ?? [];
  if (!(input instanceof SampleInput) || first === undefined) return input;
  return (input as SampleInput<Context>).withSchemaVersion(first);
}

/** Returns the sample input. `migrate`, servers and `status` use the same, so they all accept the same views. */
export function sampleInput<Context>(
  { sampleContext, schemaVersions }: SampleOptions<Context>,
  args: SampleArgs = new Map(),
): SampleInput<Context> {
  const ctx = sampleContext ?? ({ userID: 'sample' } as Context);
  return new SampleInput(ctx, schemaVersions?.[0] ?? '', args);
}
