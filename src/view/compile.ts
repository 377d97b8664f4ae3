/** A view ready to be pulled: its query in every form that a pull needs. */
import { digest } from '../protocol/cookie.js';
import { identifier, quotedText } from '../sql.js';
import type { Analysis } from './analyze.js';
import type { ViewShape } from './define.js';
import { deparseSelect } from './parse/syntax.js';
import { type Template, toTemplate } from './parse/template.js';
import type { Tree } from './parse/tree.js';
import { focusSets, rewrite, type Stand } from './rewrite.js';
import { seatedSelect } from './seated.js';
import type { Strategy } from './strategy.js';
import { shapedValue, type ValueForm } from './value-sql.js';

/** A query, over any state of its tables. */
export interface QueryForms {
  readonly now: Template;
  /** The query with its occurrences of tables reading other states; see `rewrite`. */
  standing(stands: readonly Stand[], focuses?: readonly number[]): Template;
}

export interface CompiledView extends QueryForms {
  readonly name: string;
  readonly strategy: Strategy;
  readonly prefix: string;
  readonly keyColumns: readonly string[];
  /** A digest of everything that determines the view's entries, except its parameters. */
  readonly digest: string;
  /** The SQL names of the types of the query's parameters. */
  readonly parameterTypes: readonly string[];
  /** SQL expressions over a row `v` of the query: the client's key, and the value as JSON text. */
  readonly keySql: string;
  readonly valueSql: string;
  /** The columns that make up the value, which may be cheaper to read. */
  readonly valueForm: ValueForm;
  /** The OID of the table that each occurrence in the query reads. */
  readonly occurrenceTables: readonly number[];
  /** Several rows of the query can share a key; the least of them, in the order of their texts, belongs to the view. */
  readonly choosesByKey: boolean;
  /**
   * The same view as several users can read it at once, with the columns of a row in place of its parameters; undefined
   * if they cannot.
   */
  readonly seated?: CompiledView | undefined;
  /** See `focusSets`. */
  focusSets(isChanged: readonly boolean[]): readonly (readonly number[])[];
}

/** What the keys of a view are made of. */
export interface ViewNaming {
  readonly name: string;
  readonly prefix: string;
  readonly key: readonly string[];
}

/** @throws SetupError if the shape names a column that there is not. */
export function compileView(naming: ViewNaming, analysis: Analysis, shape: ViewShape = {}): CompiledView {
  const { select } = analysis;
  const value = shapedValue(analysis.columns, shape);
  const sets = new Map<string, readonly (readonly number[])[]>();
  const view = {
    name: naming.name,
    strategy: analysis.strategy,
    prefix: naming.prefix,
    keyColumns: naming.key,
    digest: digest([naming.name, naming.prefix, ...naming.key, analysis.text, ...digested(shape)]),
    parameterTypes: analysis.parameterTypes,
    keySql: keySql(naming),
    valueSql: value.sql,
    valueForm: value.form,
    occurrenceTables: analysis.tables.map((table) => table.oid),
    choosesByKey: analysis.choosesByKey,
    focusSets: (isChanged: readonly boolean[]) =>
      remembered(sets, isChanged.join(), () => focusSets(select, isChanged)),
  };
  const seated = analysis.isSeparable ? seatedSelect(select) : undefined;
  return {
    ...view,
    ...formsOf(select, analysis.text),
    seated: seated && { ...view, ...formsOf(select, deparseSelect(seated), (tree) => seatedSelect(tree)!) },
  };
}

/** What a shape adds to a digest. Nothing if it leaves rows as they are. */
function digested({ value }: ViewShape): string[] {
  const shape = { value };
  return Object.values(shape).some((option) => option !== undefined) ? [JSON.stringify(shape)] : [];
}

function formsOf(select: Tree, now: string, settled = (tree: Tree) => tree): QueryForms {
  const templates = new Map<string, Template>();
  return {
    now: toTemplate(now),
    standing(stands, focuses = []) {
      const id = `${stands.join()}|${focuses.join()}`;
      return remembered(templates, id, () => toTemplate(deparseSelect(settled(rewrite(select, stands, focuses)))));
    },
  };
}

function remembered<T>(known: Map<string, T>, id: string, make: () => T): T {
  const value = known.get(id) ?? make();
  known.set(id, value);
  return value;
}

/**
 * A single column is used as it is. In several columns, `%` and `/` are percent-encoded, so that no two rows share a
 * key.
 */
function keySql({ name, prefix, key }: ViewNaming): string {
  const texts = key.map((column) => `v.${identifier(column)}::text collate "C"`);
  const parts = texts.length === 1 ? texts : texts.map((text) => `replace(replace(${text}, '%', '%25'), '/', '%2F')`);
  return `coalesce(${quotedText(prefix)} || ${parts.join(` || '/' || `)}, tidemark.null_key(${quotedText(name)}))`;
}
