/** A view ready to be pulled: its query in every form that a pull needs. */
import type { QueryDescription, ResultColumn } from '../db/database.js';
import { SetupError } from '../errors.js';
import { identifier, quotedText } from '../sql.js';
import type { Analysis } from './analyze.js';
import { rewrite, type Stand } from './rewrite.js';
import type { Strategy } from './strategy.js';
import { cloneTree, deparseSelect, type Template, type Tree, toTemplate } from './syntax.js';

export interface CompiledView {
  readonly name: string;
  readonly strategy: Strategy;
  readonly prefix: string;
  readonly keyColumns: readonly string[];
  /** The types of the query's parameters, as SQL names them. */
  readonly parameterTypes: readonly string[];
  /** SQL expressions over a row `v` of the query. */
  readonly keySql: string;
  readonly valueSql: string;
  /** The OID of the table that each occurrence in the query reads. */
  readonly occurrenceTables: readonly number[];
  readonly now: Template;
  /** The query with its occurrences reading other states of their tables; see `rewrite`. */
  standing(stands: readonly Stand[], focus?: number): Template;
}

export interface ViewNaming {
  readonly name: string;
  readonly prefix: string;
  readonly key: readonly string[];
}

/** @throws SetupError when the columns of the result do not make rows with the given key. */
export function compileView(
  naming: ViewNaming,
  text: string,
  analysis: Analysis,
  { columns, parameterTypes }: QueryDescription,
): CompiledView {
  checkColumns(columns, naming.key);
  const select = breakTies(analysis.select, naming.key);
  const cache = new Map<string, Template>();
  return {
    name: naming.name,
    strategy: analysis.strategy,
    prefix: naming.prefix,
    keyColumns: naming.key,
    parameterTypes,
    keySql: keySql(naming),
    valueSql: valueSql(columns),
    occurrenceTables: analysis.tables.map((table) => table.oid),
    now: toTemplate(select === analysis.select ? text : deparseSelect(select)),
    standing(stands, focus) {
      const id = `${stands.join()}|${focus ?? ''}`;
      let template = cache.get(id);
      if (!template) {
        template = toTemplate(rewrite(select, analysis.occurrences, stands, focus));
        cache.set(id, template);
      }
      return template;
    },
  };
}

function checkColumns(columns: readonly ResultColumn[], key: readonly string[]): void {
  const names = columns.map((column) => column.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new SetupError(`it has two columns called ${twice}. Give one of them another name with AS`);
  if (names.includes('?column?')) throw new SetupError('it has a column without a name. Give it one with AS');
  const missing = key.find((column) => !names.includes(column));
  if (key.length === 0) throw new SetupError('it has no key. Name the column, or columns, that identify a row');
  if (missing !== undefined) {
    throw new SetupError(
      `its key names the column ${missing}, which the query does not return. It returns: ${names.join(', ')}`,
    );
  }
}

/** Rows that an outermost ORDER BY … LIMIT calls equal are told apart by the key, so that the window is a function of the data. */
function breakTies(select: Tree, key: readonly string[]): Tree {
  if (!select.limitCount && !select.limitOffset) return select;
  const copy = cloneTree(select);
  const ties = key.map((column) => ({
    SortBy: {
      node: { ColumnRef: { fields: [{ String: { sval: column } }] } },
      sortby_dir: 'SORTBY_DEFAULT',
      sortby_nulls: 'SORTBY_NULLS_DEFAULT',
    },
  }));
  copy.sortClause = [...(copy.sortClause as unknown[]), ...ties];
  return copy;
}

/** A single column is used as it is; of several, `%` and `/` are percent-encoded, so that no two rows share a key. */
function keySql({ name, prefix, key }: ViewNaming): string {
  const texts = key.map((column) => `v.${identifier(column)}::text collate "C"`);
  const parts = texts.length === 1 ? texts : texts.map((text) => `replace(replace(${text}, '%', '%25'), '/', '%2F')`);
  return `coalesce(${quotedText(prefix)} || ${parts.join(` || '/' || `)}, tidemark.null_key(${quotedText(name)}))`;
}

const int8 = 20;
const numeric = 1700;

/** A row as JSON text. Numbers that a JavaScript number cannot hold exactly become strings. */
function valueSql(columns: readonly ResultColumn[]): string {
  if (!columns.some(({ typeOID }) => typeOID === int8 || typeOID === numeric)) return 'row_to_json(v.*)::text';
  const values = columns.map(({ name, typeOID }) => {
    const column = `v.${identifier(name)}`;
    const exact =
      typeOID === int8
        ? `${column} between -9007199254740991 and 9007199254740991`
        : typeOID === numeric
          ? `length(ltrim(translate(trim_scale(abs(${column}))::text, '.', ''), '0')) <= 15`
          : undefined;
    const value = exact
      ? `case when ${column} is null then null when ${exact} then to_json(${column}) else to_json(${column}::text) end`
      : column;
    return `${value} as ${identifier(name)}`;
  });
  return `(select row_to_json(j.*)::text from (select ${values.join(', ')}) j)`;
}
