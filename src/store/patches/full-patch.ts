/** The statement of a full pull: a report, and all rows of the views, whose ops are yet to be written. */
import type { BoundView } from '../../view/client-views.js';
import { rowsAsV } from '../../view/compile/evaluated-once.js';
import { render } from '../../view/parse/template.js';
import { linesQuery } from './patch-sql.js';
import { rowsOf } from './sides.js';

/** A statement whose lines hold the texts of columns: it takes Postgres a fraction of the time that JSON takes. */
export interface FullPatch {
  /**
   * A COPY in the text format. The report is in the first field of the first line. Every other line is a row: the index
   * of its view, the fields that the view's ops have, then null fields.
   */
  readonly statement: string;
  /** How the fields of each view's rows become an op. */
  readonly ops: readonly OpForm[];
}

export interface OpForm {
  readonly fields: readonly OpField[];
  /** What follows the last field. */
  readonly end: string;
  /** Line breaks between the tokens of JSON become spaces. */
  readonly isOneLine: boolean;
}

export interface OpField {
  /** What the op has before this field. */
  readonly before: string;
  /** The field is to be written as a JSON string, unless it is null; otherwise it is JSON. */
  readonly isString: boolean;
  /** If the field is null, the op has neither it nor what is before it. */
  readonly omitsNull?: true;
}

interface Lines {
  /** SQL expressions for the key, and for the fields of a row. */
  readonly key: string;
  readonly fields: readonly string[];
  readonly from: string;
  /** How the fields become the row. */
  readonly row: Omit<OpForm, 'isOneLine'>;
}

/**
 * Each op is preceded by a comma, and its bytes are those that Postgres would write.
 * @param form `rows`: what is written are rows, each preceded by a comma and on one line; those of a view come in the
 * order of their keys
 */
export function fullPatch(report: string, views: readonly BoundView[], form: 'ops' | 'rows' = 'ops'): FullPatch {
  const isOps = form === 'ops';
  const all = views.map((bound) => (bound.view.choosesByKey ? linesOfJSON(bound) : linesOfColumns(bound)));
  const width = Math.max(0, ...all.map(({ fields }) => fields.length)) + Number(isOps);
  const queries = all.map(({ key, fields, from }, i) => {
    const { keysMayRepeat } = views[i]!.view;
    const sorted = `${key} collate "C"`;
    const columns = isOps ? [keysMayRepeat ? sorted : key, ...fields] : fields;
    const listed = [`'${i}'`, ...columns, ...nulls(width - columns.length)].join(', ');
    const query = `select ${keysMayRepeat ? `distinct on (${sorted}) ` : ''}${listed} from ${from}`;
    return isOps && !keysMayRepeat ? query : `(${query}\norder by ${sorted})`;
  });
  return {
    statement: `copy (\n${linesQuery(report, [], queries, nulls(width))}\n) to stdout`,
    ops: all.map(({ row }) => (isOps ? opOf(row) : lineOf(row))),
  };
}

function nulls(count: number): string[] {
  return Array.from({ length: count }, () => 'null');
}

const key: OpField = { before: ',{"op":"put","key":', isString: true };

function opOf({ fields, end }: Lines['row']): OpForm {
  return { fields: [key, ...preceded(',"value":', fields)], end: `${end}}\n`, isOneLine: false };
}

function lineOf({ fields, end }: Lines['row']): OpForm {
  return { fields: preceded(',', fields), end: `${end}\n`, isOneLine: true };
}

function preceded(before: string, [first, ...others]: readonly OpField[]): OpField[] {
  return [{ ...first!, before: before + first!.before }, ...others];
}

function linesOfColumns({ view, literals }: BoundView): Lines {
  const { parts, end } = view.valueForm;
  return {
    key: view.keySql(literals),
    fields: parts.map(({ sql }) => sql),
    from: rowsAsV(view, render(view.whole, literals)),
    row: { fields: parts.map(({ sql: _, ...field }) => field), end },
  };
}

/** Rows are chosen by their JSON, so it is made anyway. */
function linesOfJSON({ view, literals }: BoundView): Lines {
  return {
    key: 'tidemark_key',
    fields: ['tidemark_value'],
    from: `(${rowsOf(view, view.whole, literals)}) b`,
    row: { fields: [{ before: '', isString: false }], end: '' },
  };
}
