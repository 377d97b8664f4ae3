/** A view's row with a key, as a view of its own: what can be done with a view can then be done with the row. */
import { literal } from '../db/literal.js';
import { digest } from '../protocol/cookie.js';
import { identifier } from '../sql.js';
import type { CompiledView, QueryForms } from './compile.js';
import type { Template } from './parse/template.js';

/** The row's key, with the view's prefix, is the last parameter. */
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
    // One of the rows that share a key is chosen first: the changed rows alone do not tell which.
    strategy: view.choosesByKey ? ('compare' as const) : view.strategy,
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
  const fence = view.strategy === 'compare' || view.choosesByKey ? `) v offset 0` : '';
  const pieces = [...text];
  pieces[0] = `select v.* from (${fence && 'select v.* from ('}${opening}\n${pieces[0]}`;
  pieces.push(`${pieces.pop()}\n${closing}${fence}) v where ${view.keySql} =`, '');
  return { text: pieces, params: [...params, parameter] };
}

/** What makes a query one for the rows that the view has, where several have the same key. */
function chosen({ keyColumns, keySql, valueSql }: CompiledView): readonly [opening: string, closing: string] {
  const keys = keyColumns.map((column) => `v.${identifier(column)}`).join(', ');
  return [
    `select distinct on (${keys}) v.* from (`,
    `) v order by ${keys}, ${keySql} collate "C", ${valueSql} collate "C"`,
  ];
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
  const text = `${view.prefix}${key}`;
  return { literal: `${literal(text)}::text`, text, condition: conditionFor(view, key) };
}

/**
 * That the key columns are what the key's text means, for an index to find the row. If the text means nothing to their
 * types, Postgres refuses it.
 */
function conditionFor({ keyColumns }: CompiledView, key: string): string | undefined {
  const parts = keyColumns.length === 1 ? [key] : key.split('/').map(unescapeKey);
  if (parts.length !== keyColumns.length) return undefined;
  return keyColumns.map((column, i) => `v.${identifier(column)} = ${literal(parts[i])}`).join(' and ');
}

function unescapeKey(text: string): string {
  return text.replaceAll('%2F', '/').replaceAll('%25', '%');
}
