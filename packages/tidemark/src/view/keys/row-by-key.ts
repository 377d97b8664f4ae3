/** Turns one row of a view, found by its key, into a view. Everything that works for views then works for the row. */
import { literal } from '../../db/literal.js';
import { digest } from '../../protocol/cookie.js';
import { identifier } from '../../sql.js';
import type { CompiledView } from '../compile/compile.js';
import { type QueryVariants, queryOfKey } from '../compile/query-variants.js';
import type { TableState } from '../compile/rewrite.js';
import type { Template } from '../parse/template.js';
import type { PreparedView } from '../served-view.js';
import { keySql, keyValues } from './key-sql.js';

/**
 * Returns the view of one row. Its last parameter is the row's key, with the view's prefix unless that depends on the
 * user. Statements that read all of it have further parameters for the key's columns; see `keyParameters`.
 */
export function rowByKey({ view, analysis }: PreparedView): CompiledView {
  const parameter = view.parameterTypes.length + 1;
  const query = queryOfKey(view.key.columns, analysis, parameter + 1);
  const parameters = query ? [parameter] : [parameter, ...view.key.columns.map((_, i) => parameter + 1 + i)];
  const row = {
    ...view,
    digest: digest([view.digest, 'row']),
    parameterTypes: [...view.parameterTypes, 'pg_catalog.text'],
    choosesByKey: false,
  };
  const rowOf = ({ now, whole, variants }: CompiledView): CompiledView => ({
    ...row,
    now: restricted(view, now, [parameter]),
    whole: restricted(view, query ?? whole, parameters),
    variants: new RowVariants(view, variants),
  });
  return { ...rowOf(view), cohortView: view.cohortView && rowOf(view.cohortView) };
}

/** The variants of a view's query, restricted to one row. */
class RowVariants implements QueryVariants {
  readonly #view: CompiledView;
  readonly #variants: QueryVariants;

  constructor(view: CompiledView, variants: QueryVariants) {
    this.#view = view;
    this.#variants = variants;
  }

  get hasFirstRows(): boolean {
    return this.#variants.hasFirstRows;
  }

  atStates(...states: Parameters<QueryVariants['atStates']>): Template {
    return this.#restricted(this.#variants.atStates(...states));
  }

  firstRows(tableStates: readonly TableState[]): Template {
    return this.#restricted(this.#variants.firstRows(tableStates));
  }

  focusSets(isChanged: readonly boolean[]): readonly (readonly number[])[] {
    return this.#variants.focusSets(isChanged);
  }

  #restricted(template: Template): Template {
    return restricted(this.#view, template, [this.#view.parameterTypes.length + 1]);
  }
}

/**
 * Restricts a query to the row. If a query keeps one of several rows with equal values, Postgres would filter first.
 * But equal values can be written differently, so a different row would be kept. OFFSET prevents this.
 * @param parameters the number of the key, and those of its columns' values if an index is to find the row
 */
function restricted(view: CompiledView, { text, params }: Template, parameters: readonly number[]): Template {
  const [opening, closing] = view.choosesByKey ? chosen(view) : ['', ''];
  const fence = view.strategy !== 'incremental' ? `) v offset 0` : '';
  const equal = [keyParameterSql(view), ...view.key.columns.map((column) => `v.${identifier(column)}`)];
  const [first, ...others] = parameters.map((_, i) => `${equal[i]} =`);
  const pieces = [...text];
  pieces[0] = `select v.* from (${fence && 'select v.* from ('}${opening}\n${pieces[0]}`;
  pieces.push(`${pieces.pop()}\n${closing}${fence}) v where ${first}`, ...others.map((other) => ` and ${other}`), '');
  return { text: pieces, params: [...params, ...parameters] };
}

/** Returns the SQL around a query that keeps one of several rows with the same key, as the view does. */
function chosen(view: CompiledView): readonly [opening: string, closing: string] {
  const keys = view.key.columns.map((column) => `v.${identifier(column)}`).join(', ');
  const [fence, end] = view.repeatsExpressions ? ['select v.* from (', ') v offset 0'] : ['', ''];
  return [
    `select distinct on (${keys}) v.* from (${fence}`,
    `${end}) v order by ${keys}, ${keyParameterSql(view)} collate "C", ${view.valueSql} collate "C"`,
  ];
}

/** Returns the SQL to compare with the key parameter: a row's key, without a prefix that depends on the user. */
function keyParameterSql({ key, parameterTypes }: CompiledView): string {
  return keySql(
    key,
    parameterTypes.map(() => `''`),
  );
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
  const values = keyValues(view.key, key) ?? view.key.columns.map(() => 'null');
  return { literals: [`${literal(text)}::text`, ...values], text };
}
