/** The rows of a view's query as SQL, with their keys and values. */
import { identifier } from '../../sql.js';
import type { CompiledView } from '../../view/compile/compile.js';
import { rowsAsV } from '../../view/compile/evaluated-once.js';
import { keySql } from '../../view/keys/key-sql.js';
import { render, type Template } from '../../view/parse/template.js';

/** The rows of a query as native key columns `tidemark_k1…`, the client's key, and the value as JSON text. */
export function rowsOf(view: CompiledView, query: Template, values: readonly string[], condition?: string): string {
  const rows = everyRowOf(view, query, values, condition);
  if (view.keysMayRepeat) return oneOfEachKey(view, rows);
  return view.choosesByKey ? chooseRows(view, rows) : rows;
}

/** All rows of a query, in the columns of `rowsOf`, even if several of them share a key. */
export function everyRowOf(view: CompiledView, query: Template, values: readonly string[], condition?: string): string {
  const keys = view.key.columns.map((column, i) => `v.${identifier(column)} as tidemark_k${i + 1}`);
  return `select ${keys.join(', ')}, ${keySql(view.key, values)} as tidemark_key, ${view.valueSql} as tidemark_value from ${rowsAsV(view, render(query, values), condition)}`;
}

/**
 * OFFSET 0 makes Postgres look up the row key by key instead of joining. Keys that Postgres considers equal, such as
 * letters in a case-insensitive collation, can differ for the client.
 */
export function isIn(view: CompiledView, query: Template, values: readonly string[], condition = 'true'): string {
  const sameKey = view.key.columns.map((column, i) => `v.${identifier(column)} = b.tidemark_k${i + 1}`).join(' and ');
  return `exists (
    select from (\n${render(query, values)}\n) v where ${sameKey} and ${keySql(view.key, values)} = b.tidemark_key and ${condition} offset 0
  )`;
}

/** For each key, the least of the rows that share it. */
function chooseRows(view: CompiledView, rows: string): string {
  const keys = nativeKeys(view).join(', ');
  return `select distinct on (${keys}) ${rowColumns(view)} from (\n${rows}\n) e
order by ${keys}, tidemark_key collate "C", tidemark_value collate "C"`;
}

/** For each of the client's keys, the least row. Native keys can be equal where these differ; see `isIn`. */
function oneOfEachKey(view: CompiledView, rows: string): string {
  const key = 'tidemark_key collate "C"';
  return `select distinct on (${key}) ${rowColumns(view)} from (\n${rows}\n) e
order by ${key}, tidemark_value collate "C"`;
}

export function distinctByKey(view: CompiledView, rows: string): string {
  return `select distinct on (tidemark_key) ${rowColumns(view)} from (\n${rows}\n) r`;
}

function nativeKeys(view: CompiledView): string[] {
  return view.key.columns.map((_, i) => `tidemark_k${i + 1}`);
}

/** The columns of a view's rows, as an SQL list. */
export function rowColumns(view: CompiledView): string {
  return [...nativeKeys(view), 'tidemark_key', 'tidemark_value'].join(', ');
}
