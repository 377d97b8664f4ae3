/** The statement of a full pull: a report, and all rows of the views, whose ops are yet to be written. */
import type { BoundView } from '../../view/client-views.js';
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
  /** SQL expressions for the fields of a row. */
  readonly fields: readonly string[];
  readonly from: string;
  readonly op: OpForm;
}

/** Each op is preceded by a comma, and its bytes are those that Postgres would write. */
export function fullPatch(report: string, views: readonly BoundView[]): FullPatch {
  const all = views.map((bound) => (bound.view.choosesByKey ? linesOfJSON(bound) : linesOfColumns(bound)));
  const width = Math.max(0, ...all.map(({ fields }) => fields.length));
  const queries = all.map(
    ({ fields, from }, i) => `select ${[`'${i}'`, ...fields, ...nulls(width - fields.length)].join(', ')} from ${from}`,
  );
  return {
    statement: `copy (\n${linesQuery(report, [], queries, nulls(width))}\n) to stdout`,
    ops: all.map(({ op }) => op),
  };
}

function nulls(count: number): string[] {
  return Array.from({ length: count }, () => 'null');
}

const key: OpField = { before: ',{"op":"put","key":', isString: true };
const beforeValue = ',"value":';

function linesOfColumns({ view, literals }: BoundView): Lines {
  const { parts, end } = view.valueForm;
  const fields = parts.map(({ before, isString, omitsNull }, i): OpField => {
    const field = { before: `${i === 0 ? beforeValue : ''}${before}`, isString };
    return omitsNull ? { ...field, omitsNull } : field;
  });
  return {
    fields: [view.keySql(literals), ...parts.map(({ sql }) => sql)],
    from: `(\n${render(view.now, literals)}\n) v`,
    op: { fields: [key, ...fields], end: `${end}}\n` },
  };
}

/** Rows are chosen by their JSON, so it is made anyway. */
function linesOfJSON({ view, literals }: BoundView): Lines {
  return {
    fields: ['tidemark_key', 'tidemark_value'],
    from: `(${rowsOf(view, view.now, literals)}) b`,
    op: { fields: [key, { before: beforeValue, isString: false }], end: '}\n' },
  };
}
