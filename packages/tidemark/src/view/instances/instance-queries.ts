/** Builds the queries of the instances that a client wants, which clients rarely change. */

import { BoundedMap } from '../../bounded-map.js';
import { SetupError } from '../../errors.js';
import type { Want } from '../../protocol/wants.js';
import { buildQuery } from '../build-query.js';
import type { View, ViewInput } from '../define.js';
import { SampleInput } from '../sample.js';

/** The queries of the wanted instances of one view, which have the same text. */
export interface BuiltInstances {
  readonly text: string;
  readonly instances: readonly (readonly unknown[])[];
  readonly prefix: string | undefined;
  /** For a sample, the values of other instances, in each of which one argument differs. */
  readonly variations?: readonly (readonly unknown[])[];
}

/** The number of inputs for which the instances of one list of wants are kept. */
const maxInputs = 100;

/** Keeps what it builds for a list of wants as long as the list itself is kept. */
export class InstanceQueries<Context> {
  readonly #built = new WeakMap<readonly Want[], BoundedMap<string, BuiltInstances>>();

  /**
   * Returns the queries of the wanted instances of a view; undefined if none is wanted. A sample wants one.
   * @throws SetupError if their texts differ
   */
  of(name: string, view: View<Context>, input: ViewInput<Context>, wants: readonly Want[]): BuiltInstances | undefined {
    if (input instanceof SampleInput) return buildSample(name, view, input);
    const key = keyOf(name, input);
    const byInput = this.#built.get(wants) ?? new BoundedMap<string, BuiltInstances>(maxInputs);
    this.#built.set(wants, byInput);
    const known = key === undefined ? undefined : byInput.get(key);
    if (known) return known;
    const wanted = wants.filter((want) => want.view === name).map(({ args }) => args);
    const built = build(view, input, wanted);
    if (built && key !== undefined) byInput.set(key, built);
    return built;
  }
}

function buildSample<Context>(
  name: string,
  view: View<Context>,
  input: SampleInput<Context>,
): BuiltInstances | undefined {
  const sample = build(view, input, [input.argsOf(name)]);
  if (!sample) return undefined;
  const queries = input.variationsOf(name).flatMap((args) => {
    try {
      return [buildQuery(view, input, args)];
    } catch {
      // The query may accept fewer arguments than the validator. Then those that a client sends fail when it sends them.
      return [];
    }
  });
  if (queries.some(({ text }) => text !== sample.text)) throw new SetupError(textDepends);
  return { ...sample, variations: queries.map(({ values }) => values) };
}

const textDepends =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it shows code
  'the text of its query depends on its arguments, but one query reads all instances. Use the arguments only as values, as in ${args.projectID}; for a condition that may be missing, write ${args.state ?? null}::text is null or state = ${args.state ?? null}';

function build<Context>(
  view: View<Context>,
  input: ViewInput<Context>,
  args: readonly unknown[],
): BuiltInstances | undefined {
  const queries = args.map((one) => buildQuery(view, input, one));
  const [first] = queries;
  if (!first) return undefined;
  if (queries.some(({ text }) => text !== first.text)) throw new SetupError(textDepends);
  return { text: first.text, instances: queries.map(({ values }) => values), prefix: first.prefix };
}

/**
 * Returns a key that is the same only for inputs from which a view builds the same query; undefined if the context may
 * hold more than its fields show.
 */
function keyOf<Context>(name: string, { ctx, profileID, schemaVersion }: ViewInput<Context>): string | undefined {
  if (Object.getPrototypeOf(ctx) !== Object.prototype) return undefined;
  const fields = Object.entries(ctx as object).map(([field, value]) => [field, typeof value, value] as const);
  if (!fields.every(([, , value]) => isPlain(value))) return undefined;
  return JSON.stringify([name, profileID, schemaVersion, fields]);
}

function isPlain(value: unknown): boolean {
  return (
    value === null ||
    value instanceof Date ||
    ['string', 'boolean', 'undefined'].includes(typeof value) ||
    Number.isFinite(value)
  );
}
