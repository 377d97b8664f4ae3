/** A view's row with a key, as a view of its own: what can be done with a view can then be done with the row. */
import { literal } from '../../db/literal.js';
import { digest } from '../../protocol/cookie.js';
import { identifier } from '../../sql.js';
import type { CompiledView, QueryForms } from '../compile/compile.js';
import type { Template } from '../parse/template.js';

/**
 * The row's key is the last parameter. It has the view's prefix, unless that depends on the user. Who reads the whole of
 * this view also gives, as parameters after it, the values of the key's columns: see `keyParameters`.
 */
export function rowByKey(view: CompiledView): CompiledView {
  const parameter = view.parameterTypes.length + 1;
  const ofKey = view.ofKey(parameter + 1);
  const formsOf = (forms: QueryForms): QueryForms => ({
    now: restricted(view, forms.now, [parameter]),
    whole: ofKey
      ? restricted(view, ofKey, [parameter])
      : restricted(view, forms.whole, [parameter, ...view.keyColumns.map((_, i) => parameter + 1 + i)]),
    standing: (...states) => restricted(view, forms.standing(...states), [parameter]),
    firstRows: forms.firstRows && ((stands) => restricted(view, forms.firstRows!(stands), [parameter])),
  });
  const row = {
    ...view,
    digest: digest([view.digest, 'row']),
    parameterTypes: [...view.parameterTypes, 'pg_catalog.text'],
    choosesByKey: false,
  };
  return { ...row, ...formsOf(view), seated: view.seated && { ...row, ...formsOf(view.seated) } };
}

/**
 * Where a query makes one row of several with equal values, Postgres would rather apply the condition first. But equal
 * values can be written differently: then the row that is made would be another one. OFFSET keeps Postgres from this.
 * @param parameters the key's, and those of its columns' values if an index is to find the row by them
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

/** What makes a query one for the rows that the view has, where several have the same key. */
function chosen(view: CompiledView): readonly [opening: string, closing: string] {
  const keys = view.keyColumns.map((column) => `v.${identifier(column)}`).join(', ');
  const [fence, end] = view.repeatsExpressions ? ['select v.* from (', ') v offset 0'] : ['', ''];
  return [
    `select distinct on (${keys}) v.* from (${fence}`,
    `${end}) v order by ${keys}, ${keyParameterSql(view)} collate "C", ${view.valueSql} collate "C"`,
  ];
}

/** What a row `v` has that is compared with the parameter: its key, less a prefix that depends on the user. */
function keyParameterSql({ keySql, parameterTypes }: CompiledView): string {
  return keySql(parameterTypes.map(() => `''`));
}

/** What a row's key adds to the parameters of its view. */
export interface KeyParameters {
  /** As SQL: the key, and the values of its columns, which no row has if they are null. */
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
