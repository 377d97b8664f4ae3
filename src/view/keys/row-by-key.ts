/** Turns one row of a view, found by its key, into a view. Everything that works for views then works for the row. */
import { literal } from '../../db/literal.js';
import { digest } from '../../protocol/cookie.js';
import { identifier } from '../../sql.js';
import type { CompiledView, QueryVariants } from '../compile/compile.js';
import type { Template } from '../parse/template.js';

/**
 * Returns the view of one row. Its last parameter is the row's key, with the view's prefix unless that depends on the
 * user. Statements that read all of it have further parameters for the key's columns; see `keyParameters`.
 */
export function rowByKey(view: CompiledView): CompiledView {
  const parameter = view.parameterTypes.length + 1;
  const ofKey = view.ofKey(parameter + 1);
  const variantsOf = (variants: QueryVariants): QueryVariants => ({
    now: restricted(view, variants.now, [parameter]),
    whole: ofKey
      ? restricted(view, ofKey, [parameter])
      : restricted(view, variants.whole, [parameter, ...view.keyColumns.map((_, i) => parameter + 1 + i)]),
    atStates: (...states) => restricted(view, variants.atStates(...states), [parameter]),
    firstRows: variants.firstRows && ((tableStates) => restricted(view, variants.firstRows!(tableStates), [parameter])),
  });
  const row = {
    ...view,
    digest: digest([view.digest, 'row']),
    parameterTypes: [...view.parameterTypes, 'pg_catalog.text'],
    choosesByKey: false,
  };
  return { ...row, ...variantsOf(view), cohortView: view.cohortView && { ...row, ...variantsOf(view.cohortView) } };
}

/**
 * Restricts a query to the row. If a query keeps one of several rows with equal values, Postgres would filter first.
 * But equal values can be written differently, so a different row would be kept. OFFSET prevents this.
 * @param parameters the number of the key, and those of its columns' values if an index is to find the row
 */
function restricted(view: CompiledView, { text, params }: Template, parameters: readonly number[]): Template {
  const [opening, closing] = view.choosesByKey ? chosen(view) : ['', ''];
  const fence = view.strategy !== 'incremental' ? `) v offset 0` : '';
  const equal = [keyParameterSql(view), ...view.keyColumns.map((column) => `v.${identifier(column)}`)];
  const [first, ...others] = parameters.map((_, i) => `${equal[i]} =`);
  const pieces = [...text];
  pieces[0] = `select v.* from (${fence && 'select v.* from ('}${opening}\n${pieces[0]}`;
  pieces.push(`${pieces.pop()}\n${closing}${fence}) v where ${first}`, ...others.map((other) => ` and ${other}`), '');
  return { text: pieces, params: [...params, ...parameters] };
}

/** Returns the SQL around a query that keeps one of several rows with the same key, as the view does. */
function chosen(view: CompiledView): readonly [opening: string, closing: string] {
  const keys = view.keyColumns.map((column) => `v.${identifier(column)}`).join(', ');
  const [fence, end] = view.repeatsExpressions ? ['select v.* from (', ') v offset 0'] : ['', ''];
  return [
    `select distinct on (${keys}) v.* from (${fence}`,
    `${end}) v order by ${keys}, ${keyParameterSql(view)} collate "C", ${view.valueSql} collate "C"`,
  ];
}

/** Returns the SQL to compare with the key parameter: a row's key, without a prefix that depends on the user. */
function keyParameterSql({ keySql, parameterTypes }: CompiledView): string {
  return keySql(parameterTypes.map(() => `''`));
}

/** The parameters that a row's key adds to those of its view. */
export interface KeyParameters {
  /** As SQL: the key and the values of its columns, which are null if no row can have the key. */
  readonly literals: readonly string[];
  /** The key as text. */
  readonly text: string;
}

/** @param key without the view's prefix */
export function keyParameters(view: CompiledView, key: string): KeyParameters {
  const text = `${view.prefix ?? ''}${key}`;
  const values = view.keyValues(key) ?? view.keyColumns.map(() => 'null');
  return { literals: [`${literal(text)}::text`, ...values], text };
}
