/** A view's row with a key, as a view of its own: what can be done with a view can then be done with the row. */
import { literal } from '../../db/literal.js';
import { digest } from '../../protocol/cookie.js';
import { identifier } from '../../sql.js';
import type { CompiledView, QueryForms } from '../compile/compile.js';
import type { Template } from '../parse/template.js';

/** The row's key is the last parameter. It has the view's prefix, unless that depends on the user. */
export function rowByKey(view: CompiledView): CompiledView {
  const parameter = view.parameterTypes.length + 1;
  const formsOf = (forms: QueryForms): QueryForms => {
    const now = restricted(view, forms.now, parameter);
    return { now, whole: now, standing: (...states) => restricted(view, forms.standing(...states), parameter) };
  };
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
 */
function restricted(view: CompiledView, { text, params }: Template, parameter: number): Template {
  const [opening, closing] = view.choosesByKey ? chosen(view) : ['', ''];
  const fence = view.strategy !== 'incremental' ? `) v offset 0` : '';
  const pieces = [...text];
  pieces[0] = `select v.* from (${fence && 'select v.* from ('}${opening}\n${pieces[0]}`;
  pieces.push(`${pieces.pop()}\n${closing}${fence}) v where ${keyParameterSql(view)} =`, '');
  return { text: pieces, params: [...params, parameter] };
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

/** A parameter of a view, and what else helps to find the row with a key. */
export interface KeyParameter {
  /** As an SQL literal, and as text. */
  readonly literal: string;
  readonly text: string;
  /** An SQL condition on a row `v` of the view's query that the row meets; undefined if there can be none. */
  readonly condition: string | undefined;
}

/** @param key without the view's prefix */
export function keyParameter(view: CompiledView, key: string): KeyParameter {
  const text = `${view.prefix ?? ''}${key}`;
  return { literal: `${literal(text)}::text`, text, condition: view.keyCondition(key) };
}
