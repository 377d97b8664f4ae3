/** The statement of a full pull: an observation, and all rows of the views, from which the server writes the ops. */
import type { ResolvedView } from '../../view/client-views.js';
import { rowsAsV } from '../../view/compile/evaluated-once.js';
import { keySql } from '../../view/keys/key-sql.js';
import { render } from '../../view/parse/template.js';
import { haveAtMost, type LinesQueries, linesQuery, type RowLimit } from './patch-sql.js';
import { rowsOf } from './view-rows.js';

/** A statement whose lines hold the texts of columns, which takes Postgres a fraction of the time that JSON takes. */
export interface FullPatch {
  /**
   * A COPY in the text format. The first field of the first line is the observation. Every other line is a row: the
   * index of its view, the fields of the view's ops, then null fields.
   */
  readonly statement: string;
  /** How the fields of each view's rows become an op. */
  readonly ops: readonly OpFormat[];
}

export interface OpFormat {
  readonly fields: readonly OpField[];
  /** The text after the last field. */
  readonly end: string;
  /** Line breaks between the tokens of JSON become spaces. */
  readonly isOneLine: boolean;
}

export interface OpField {
  /** The part of the op before this field. */
  readonly before: string;
  /** True if the field becomes a JSON string, unless it is null. Otherwise it is JSON already. */
  readonly isString: boolean;
  /** If the field is null, the op omits it and the part before it. */
  readonly omitsNull?: true;
}

interface Lines {
  /** SQL expressions for the key, and for the fields of a row. */
  readonly key: string;
  readonly fields: readonly string[];
  readonly from: string;
  /** How the fields become the row. */
  readonly row: Omit<OpFormat, 'isOneLine'>;
}

/**
 * Returns the statement. Each op is preceded by a comma, and has the bytes that Postgres would write.
 * @param format `rows` writes rows, each preceded by a comma and on one line; those of a view come in the order of
 * their keys
 */
export function fullPatch(
  observation: string,
  views: readonly ResolvedView[],
  format: 'ops' | 'rows' = 'ops',
  limit?: RowLimit,
): FullPatch {
  const isOps = format === 'ops';
  const all = views.map((resolved) => (resolved.view.choosesByKey ? linesOfJSON(resolved) : linesOfColumns(resolved)));
  const width = Math.max(0, ...all.map(({ fields }) => fields.length)) + Number(isOps);
  const queries = all.map(({ key, fields, from }, i) => {
    const { keysMayRepeat } = views[i]!.view;
    const sorted = `${key} collate "C"`;
    const columns = isOps ? [keysMayRepeat ? sorted : key, ...fields] : fields;
    const selectList = [`'${i}'`, ...columns, ...nulls(width - columns.length)].join(', ');
    const query = `select ${keysMayRepeat ? `distinct on (${sorted}) ` : ''}${selectList} from ${from}`;
    return isOps && !keysMayRepeat ? query : `(${query}\norder by ${sorted})`;
  });
  const patch = { observation, withQueries: [], lines: queries, extraColumns: nulls(width) };
  return {
    statement: `copy (\n${linesQuery(limit ? limited(patch, views, limit) : patch)}\n) to stdout`,
    ops: all.map(({ row }) => (isOps ? opOf(row) : lineOf(row))),
  };
}

function limited(
  patch: LinesQueries,
  views: readonly ResolvedView[],
  { rows: maxRows, countsFirst }: RowLimit,
): LinesQueries {
  const someOf = (rows: readonly string[]) => `from (${rows.join('\nunion all\n')}) r limit ${maxRows + 1}`;
  if (countsFirst) {
    return { ...patch, condition: haveAtMost(maxRows, [`(select ${someOf(views.map(rowsWithoutColumns))}) r`]) };
  }
  return {
    ...patch,
    withQueries: [`tidemark_rows as materialized (select * ${someOf(patch.lines)})`],
    lines: ['select * from tidemark_rows'],
    condition: haveAtMost(maxRows, ['tidemark_rows']),
  };
}

/** The rows of a view, without their columns, which need not be computed to count them. */
export function rowsWithoutColumns({ view, literals }: ResolvedView): string {
  return `select from (\n${render(view.whole, literals)}\n) v`;
}

function nulls(count: number): string[] {
  return Array.from({ length: count }, () => 'null');
}

const key: OpField = { before: ',{"op":"put","key":', isString: true };

function opOf({ fields, end }: Lines['row']): OpFormat {
  return { fields: [key, ...preceded(',"value":', fields)], end: `${end}}\n`, isOneLine: false };
}

function lineOf({ fields, end }: Lines['row']): OpFormat {
  return { fields: preceded(',', fields), end: `${end}\n`, isOneLine: true };
}

function preceded(before: string, [first, ...rest]: readonly OpField[]): OpField[] {
  return [{ ...first!, before: before + first!.before }, ...rest];
}

function linesOfColumns({ view, literals }: ResolvedView): Lines {
  const { parts, end } = view.valueEncoding;
  return {
    key: keySql(view.key, literals),
    fields: parts.map(({ sql }) => sql),
    from: rowsAsV(view, render(view.whole, literals)),
    row: { fields: parts.map(({ sql: _, ...field }) => field), end },
  };
}

/** The query needs the JSON of rows anyway, to choose between them. */
function linesOfJSON({ view, literals }: ResolvedView): Lines {
  return {
    key: 'tidemark_key',
    fields: ['tidemark_value'],
    from: `(${rowsOf(view, view.whole, literals)}) b`,
    row: { fields: [{ before: '', isString: false }], end: '' },
  };
}
