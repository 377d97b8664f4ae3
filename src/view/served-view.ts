/** A view as it is served: all that says which keys and values its clients have, but for parameters. */

import type { Database } from '../db/database.js';
import { namedLiteral, parameterText, typedLiteral } from '../db/literal.js';
import { SetupError } from '../errors.js';
import { isMovingMoment } from './analysis/moments.js';
import { type Analysis, analyze } from './analyze.js';
import { type CompiledView, compileView, prefixType } from './compile/compile.js';
import type { ViewShape } from './define.js';
import { inView, inViewAsync } from './in-view.js';
import { checkKeyTypes } from './keys/key-types.js';
import { checkParameterValues } from './parameter-values.js';

/** A view's parameters. */
export interface ViewParameters {
  /** As SQL literals. */
  readonly literals: readonly string[];
  /** As text, for statements that have parameters. */
  readonly texts: readonly (string | null)[];
}

/** Plain data, to be kept. */
export interface ServedView extends ViewShape {
  readonly name: string;
  /** Null if it depends on the user. */
  readonly prefix: string | null;
  readonly key: readonly string[];
  readonly template?: string | undefined;
  /** The query. */
  readonly text: string;
}

/** What has been found out about a view. */
export interface PreparedView {
  readonly analysis: Analysis;
  readonly view: CompiledView;
}

/** @throws SetupError that names the view that cannot be served. */
export function prepareView(
  db: Database,
  { name, prefix, key, template, text, ...shape }: ServedView,
): Promise<PreparedView> {
  return inViewAsync(name, async () => {
    const analysis = await analyze(db, text, key);
    await checkKeyTypes(db, analysis.columns, key);
    return { analysis, view: compileView({ name, prefix: prefix ?? undefined, key, template }, analysis, shape) };
  });
}

/**
 * The parameters of a view.
 * @param prefix what the user's keys start with, if that is a parameter
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

/** The same out of the texts of the parameters. */
export function parametersIn(prepared: PreparedView, texts: readonly (string | null)[]): ViewParameters {
  const hasPrefix = prepared.view.prefix === undefined;
  return hasPrefix
    ? parametersOf(prepared, texts.slice(0, -1), texts.at(-1) ?? '')
    : parametersOf(prepared, texts, undefined);
}

function toLiterals(
  values: readonly unknown[],
  { parameterTypes, momentParameters, keepsParametersApart }: Analysis,
): string[] {
  return parameterTypes.map((type, i) => {
    const value = values[i];
    if (momentParameters.has(i + 1) && isMovingMoment(String(value))) {
      throw new SetupError(
        `its parameter $${i + 1} is '${value}', which means a different moment each time. Pass the time itself`,
      );
    }
    return keepsParametersApart ? namedLiteral(`tidemark_${i + 1}`, value, type) : typedLiteral(value, type);
  });
}
