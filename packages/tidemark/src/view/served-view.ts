/** A view as it is served: everything that determines its clients' keys and values, except parameters. */

import type { Database } from '../db/database.js';
import { namedLiteral, parameterText, typedLiteral } from '../db/literal.js';
import { SetupError } from '../errors.js';
import { isRelativeDateTime } from './analysis/date-times.js';
import { type Analysis, analyze } from './analyze.js';
import { type CompiledView, compileView, prefixType } from './compile/compile.js';
import type { ValueOptions } from './define.js';
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

/** A served view as plain data, which can be stored. */
export interface ServedView extends ValueOptions {
  readonly name: string;
  /** Null if it depends on the user. */
  readonly prefix: string | null;
  readonly key: readonly string[];
  readonly template?: string | undefined;
  /** The text of the query. */
  readonly text: string;
}

/** A view that is ready to be served, with the analysis of its query. */
export interface PreparedView {
  readonly analysis: Analysis;
  readonly view: CompiledView;
}

/** @throws SetupError that names the view that cannot be served. */
export function prepareView(
  db: Database,
  { name, prefix, key, template, text, ...valueOptions }: ServedView,
): Promise<PreparedView> {
  return inViewAsync(name, async () => {
    const analysis = await analyze(db, text, key);
    await checkKeyTypes(db, analysis.columns, key);
    return {
      analysis,
      view: compileView({ name, prefix: prefix ?? undefined, key, template }, analysis, valueOptions),
    };
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

/** Returns a view's parameters from their texts. @throws SetupError that names the view whose parameters do not fit. */
export function parametersIn(prepared: PreparedView, texts: readonly (string | null)[]): ViewParameters {
  const hasPrefix = prepared.view.prefix === undefined;
  return hasPrefix
    ? parametersOf(prepared, texts.slice(0, -1), texts.at(-1) ?? '')
    : parametersOf(prepared, texts, undefined);
}

function toLiterals(
  values: readonly unknown[],
  { parameterTypes, dateTimeParameters, keepsParametersApart }: Analysis,
): string[] {
  return parameterTypes.map((type, i) => {
    const value = values[i];
    if (dateTimeParameters.has(i + 1) && isRelativeDateTime(String(value))) {
      throw new SetupError(
        `its parameter $${i + 1} is '${value}', which means a different time whenever it is read. Pass the time itself`,
      );
    }
    return keepsParametersApart ? namedLiteral(`tidemark_${i + 1}`, value, type) : typedLiteral(value, type);
  });
}
