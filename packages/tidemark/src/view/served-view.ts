/** A view as it is served: everything that determines its clients' keys and values, except parameters. */

import type { Database } from '../db/database.js';
import { namedLiteral, parameterText, typedLiteral } from '../db/literal.js';
import { SetupError } from '../errors.js';
import { isRelativeDateTime } from './analysis/date-times.js';
import { type Analysis, analyze } from './analyze.js';
import { type CompiledView, compileView, prefixType } from './compile/compile.js';
import type { ValueOptions } from './define.js';
import { inView, inViewAsync } from './in-view.js';
import { columnsOfInstances, distinctInstances, type InstanceTexts, queryOfInstances } from './instances/instances.js';
import { checkKeyTypes } from './keys/key-types.js';
import { checkParameterValues } from './parameter-values.js';

/** A view's parameters. */
export interface ViewParameters {
  /** As SQL literals. */
  readonly literals: readonly string[];
  /** As text, for statements that have parameters. */
  readonly texts: readonly (string | null)[];
  /** The instances that the view reads, if it has arguments. Then each parameter is an array with their values. */
  readonly instances?: readonly InstanceTexts[] | undefined;
}

/** A served view as plain data, which can be stored. */
export interface ServedView extends ValueOptions {
  readonly name: string;
  /** Null if it depends on the user. */
  readonly prefix: string | null;
  readonly key: readonly string[];
  readonly template?: string | undefined;
  /** The text of the query. */
  readonly text: string;
  /** True if it is served as any number of instances. The text is then the query of one of them. */
  readonly hasInstances?: true | undefined;
}

/** A view that is ready to be served, with the analysis of its query. */
export interface PreparedView {
  readonly analysis: Analysis;
  readonly view: CompiledView;
  /** The analysis of the query of one instance, if the view is served as any number of instances. */
  readonly one?: Analysis | undefined;
}

/** @throws SetupError that names the view that cannot be served. */
export function prepareView(
  db: Database,
  { name, prefix, key, template, text, hasInstances, ...valueOptions }: ServedView,
): Promise<PreparedView> {
  return inViewAsync(name, async () => {
    const one = await analyze(db, text, key);
    await checkKeyTypes(db, one.columns, key);
    const analysis = hasInstances ? await analyze(db, queryOfInstances(text, one.parameterTypes), key) : one;
    const view = compileView({ name, prefix: prefix ?? undefined, key, template }, analysis, valueOptions);
    return { analysis, view, one: hasInstances && one };
  });
}

/**
 * Returns a view's parameters.
 * @param prefix the prefix of the user's keys, if it is a parameter
 * @throws SetupError that names the view whose parameters do not fit.
 */
export function parametersOf(
  { view, analysis }: PreparedView,
  values: readonly unknown[],
  prefix: string | undefined,
): ViewParameters {
  const literals = inView(view.name, () => {
    checkParameterValues(values, analysis);
    return toLiterals(values, analysis);
  });
  const texts = analysis.parameterTypes.map((_, i) => parameterText(values[i]));
  if (prefix === undefined) return { literals, texts };
  return { literals: [...literals, typedLiteral(prefix, prefixType)], texts: [...texts, prefix] };
}

/**
 * Returns the parameters with which a view reads instances.
 * @param values the values of each instance's parameters
 * @param prefix the prefix of the user's keys, if it is a parameter
 * @throws SetupError that names the view whose parameters do not fit.
 */
export function parametersOfInstances(
  { view, one }: PreparedView,
  values: readonly (readonly unknown[])[],
  prefix: string | undefined,
): ViewParameters {
  const texts = inView(view.name, () =>
    values.map((instance) => {
      checkParameterValues(instance, one!);
      checkTimes(instance, one!);
      return one!.parameterTypes.map((_, i) => parameterText(instance[i]));
    }),
  );
  return instanceParameters(view, distinctInstances(texts), prefix);
}

/**
 * Returns the parameters with which a view reads instances.
 * @param prefix the prefix of the user's keys, if it is a parameter
 */
export function instanceParameters(
  { parameterTypes }: CompiledView,
  instances: readonly InstanceTexts[],
  prefix: string | undefined,
): ViewParameters {
  const arrays = columnsOfInstances(instances, parameterTypes.length - (prefix === undefined ? 0 : 1));
  const values = prefix === undefined ? arrays : [...arrays, prefix];
  return {
    literals: values.map((value, i) => typedLiteral(value, parameterTypes[i]!)),
    texts: values.map(parameterText),
    instances,
  };
}

/** The parameters of a view as texts for a cookie, where those of instances are JSON arrays. */
export function cookieTexts({ view, texts, instances }: ViewParameters & Pick<PreparedView, 'view'>): InstanceTexts {
  if (!instances) return texts;
  const arrays = columnsOfInstances(instances, view.parameterTypes.length - (view.prefix === undefined ? 1 : 0));
  return [...arrays.map((array) => JSON.stringify(array)), ...texts.slice(arrays.length)];
}

/** Returns the instances in the texts of a cookie. */
export function instancesIn({ prefix }: Pick<CompiledView, 'prefix'>, texts: InstanceTexts): InstanceTexts[] {
  const arrays = (prefix === undefined ? texts.slice(0, -1) : texts).map((text) => JSON.parse(text!) as InstanceTexts);
  return (arrays[0] ?? ['']).map((_, i) => arrays.map((array) => array[i]!));
}

/**
 * Returns a view's parameters from their texts in a cookie.
 * @throws SetupError that names the view whose parameters do not fit.
 */
export function parametersIn(prepared: PreparedView, texts: InstanceTexts): ViewParameters {
  const { view, one } = prepared;
  const [values, prefix] = view.prefix === undefined ? [texts.slice(0, -1), texts.at(-1) ?? ''] : [texts, undefined];
  if (one) return parametersOfInstances(prepared, instancesIn(view, texts), prefix);
  return parametersOf(prepared, values, prefix);
}

function toLiterals(values: readonly unknown[], analysis: Analysis): string[] {
  checkTimes(values, analysis);
  return analysis.parameterTypes.map((type, i) =>
    analysis.keepsParametersApart ? namedLiteral(`tidemark_${i + 1}`, values[i], type) : typedLiteral(values[i], type),
  );
}

/** @throws SetupError if a date or time means a different one whenever it is read */
function checkTimes(values: readonly unknown[], { dateTimeParameters }: Analysis): void {
  for (const number of dateTimeParameters) {
    const value = values[number - 1];
    if (!isRelativeDateTime(String(value))) continue;
    throw new SetupError(
      `its parameter $${number} is '${value}', which means a different time whenever it is read. Pass the time itself`,
    );
  }
}
