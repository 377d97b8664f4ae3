/** A view's query with its occurrences of tables reading other states. */
import type { Table } from '../../catalog/tables.js';
import type { Analysis } from '../analyze.js';
import { columnRef } from '../parse/nodes.js';
import { deparseSelect } from '../parse/syntax.js';
import { type Template, toTemplate } from '../parse/template.js';
import { cloneTree, type Tree } from '../parse/tree.js';
import type { CompanionQuery } from '../partition/companions.js';
import { firstRowsBefore } from '../partition/first-rows.js';
import { type Restriction, restrict, restrictTo } from '../partition/restrict.js';
import { cohortSelect } from './cohort-select.js';
import { focusSets, rewrite, type TableState, tablesIn } from './rewrite.js';

/** A query that can read any state of its tables. */
export interface QueryVariants {
  /** True if `firstRows` is possible: the query has ORDER BY and LIMIT, and partitions divide all of its rows. */
  readonly hasFirstRows: boolean;
  /**
   * Returns the query with its occurrences of tables reading other states; see `rewrite`.
   * @param restriction see `restrict`
   */
  atStates(tableStates: readonly TableState[], focuses?: readonly number[], restriction?: Restriction): Template;
  /**
   * Returns the first rows as of other states. The query reads the current first rows, and rows of the partitions in a
   * query `tidemark_c`.
   */
  firstRows(tableStates: readonly TableState[]): Template;
  /** See `focusSets`. */
  focusSets(isChanged: readonly boolean[]): readonly (readonly number[])[];
}

/** The variants of an analyzed query, each built once. */
export class AnalyzedQuery implements QueryVariants {
  readonly #analysis: Analysis;
  readonly #isForCohorts: boolean;
  readonly #templates = new Map<string, Template>();
  readonly #focusSets = new Map<string, readonly (readonly number[])[]>();

  /** @param isForCohorts true to read several users' rows at once; see `cohortSelect` */
  constructor(analysis: Analysis, isForCohorts: boolean) {
    this.#analysis = analysis;
    this.#isForCohorts = isForCohorts;
  }

  get hasFirstRows(): boolean {
    return this.#analysis.partition?.isForFirstRows ?? false;
  }

  atStates(
    tableStates: readonly TableState[],
    focuses: readonly number[] = [],
    restriction: Restriction | undefined = undefined,
  ): Template {
    return memoize(this.#templates, `${tableStates.join()}|${focuses.join()}|${restriction}`, () =>
      this.#template(this.#rewritten(tableStates, focuses, restriction)),
    );
  }

  firstRows(tableStates: readonly TableState[]): Template {
    return memoize(this.#templates, `first of ${tableStates.join()}`, () => {
      const now = tableStates.map(() => 'now');
      const [unaffected, affected] = [this.#rewritten(now, [], 'others'), this.#rewritten(tableStates, [], 'all')];
      const names = this.#analysis.columns.map(({ name }) => name);
      return this.#template(firstRowsBefore(unaffected, affected, names));
    });
  }

  focusSets(isChanged: readonly boolean[]): readonly (readonly number[])[] {
    return memoize(this.#focusSets, isChanged.join(), () => focusSets(this.#analysis.inlined, isChanged));
  }

  #rewritten(
    tableStates: readonly TableState[],
    focuses: readonly number[],
    restriction: Restriction | undefined,
  ): Tree {
    const { inlined, partition } = this.#analysis;
    const tree = rewrite(inlined, tableStates, focuses);
    if (restriction) restrict(tree, partition!.restrictionPoints, restriction);
    return tree;
  }

  #template(tree: Tree): Template {
    return toTemplate(deparseSelect(this.#isForCohorts ? cohortSelect(tree)! : tree));
  }
}

/**
 * Returns the query of the rows whose key columns have the values of the parameters from `first` on. It can return
 * other rows, too. Undefined if the view's key does not divide the query.
 */
export function queryOfKey(
  key: readonly string[],
  { inlined, partition }: Pick<Analysis, 'inlined' | 'partition'>,
  first: number,
): Template | undefined {
  if (!partition?.keyColumns) return undefined;
  const values = partition.keyColumns.map((column) => ({ ParamRef: { number: first + key.indexOf(column) } }));
  const tree = cloneTree(inlined);
  restrictTo(tree, partition.restrictionPoints, values);
  return toTemplate(deparseSelect(tree));
}

/** A companion query that can read any state of its tables; see `CompanionQuery`. */
export class CompiledCompanion implements Omit<CompanionQuery, 'select' | 'occurrences'> {
  /** The OID of each table in the join. */
  readonly tables: readonly number[];
  readonly focuses: readonly number[];
  readonly identifiesPartition: boolean;
  readonly #select: Tree;
  readonly #templates = new Map<string, Template>();

  /** @param tables the table of each occurrence in the view's query */
  constructor({ select, occurrences, focuses, identifiesPartition }: CompanionQuery, tables: readonly Table[]) {
    this.tables = occurrences.map((occurrence) => tables[occurrence]!.oid);
    this.focuses = focuses;
    this.identifiesPartition = identifiesPartition;
    this.#select = select;
  }

  /** @param numbered the occurrence, if any, whose column `tidemark_row` is added to the result */
  atStates(tableStates: readonly TableState[], numbered?: number): Template {
    return memoize(this.#templates, `${tableStates.join()}|${numbered}`, () => {
      const tree = rewrite(this.#select, tableStates, []);
      if (numbered !== undefined) addNumber(tree, tablesIn(this.#select)[numbered]!);
      return toTemplate(deparseSelect(tree));
    });
  }
}

/** @param select is modified in place */
function addNumber(select: Tree, { alias }: Tree): void {
  const number = columnRef((alias as { aliasname: string }).aliasname, 'tidemark_row');
  select.targetList = [...(select.targetList as Tree[]), { ResTarget: { name: 'tidemark_row', val: number } }];
}

function memoize<T>(cache: Map<string, T>, id: string, make: () => T): T {
  const value = cache.get(id) ?? make();
  cache.set(id, value);
  return value;
}
