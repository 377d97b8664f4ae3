/** Joins of tables, as plain values: what the companion queries of a view consist of. Pure. */
import type { Tree } from '../parse/tree.js';

/** A reading of a table, under an alias of its own. */
export interface JoinedTable {
  /** Its RangeVar, with the alias. */
  readonly range: Tree;
  readonly alias: string;
  /** Its number among the tables that the view's query reads; see `tablesIn`. */
  readonly occurrence: number;
  /** True if the join is there to find the table's changed rows. */
  readonly isFocus: boolean;
}

/** A column of a joined table. */
export interface Column {
  readonly alias: string;
  readonly name: string;
  readonly isNotNull: boolean;
}

/** The columns of an entry of a range table, in order. Undefined for those that are no column of a joined table. */
export type Columns = readonly (Column | undefined)[];

/** By the number of the entry in its query's range table. */
export type Entries = ReadonlyMap<number, Columns>;

/** Rows of tables that meet all of some conditions. */
export interface Join {
  readonly tables: readonly JoinedTable[];
  readonly conditions: readonly Tree[];
  /** What each row of the query has one of. */
  readonly columns: Entries;
  /** What an outer join may fill with nulls: only the conditions of further joins may refer to it. */
  readonly nullable: Entries;
  /**
   * True if the query's rows need not have such a combination, and only depend on it. Its focus is on the tables that they
   * depend on.
   */
  readonly isDependency: boolean;
  /** True if rows of the focus are so rare that the join need not be connected. */
  readonly isRare: boolean;
}

/** A join, and which of its columns are those of the query's result. */
export interface FlatJoin extends Join {
  readonly outputs: Columns;
}

/** A query as joins. */
export interface Flat {
  readonly joins: readonly FlatJoin[];
  /** True if the query has a row even if its tables have none. */
  readonly isNeverEmpty: boolean;
}

export const emptyJoin: Join = {
  tables: [],
  conditions: [],
  columns: new Map(),
  nullable: new Map(),
  isDependency: false,
  isRare: false,
};

/** The combinations of two joins. None if both are dependencies: each has a join of its own. */
export function product(one: Join, other: Join): Join[] {
  if (one.isDependency && other.isDependency) return [];
  return [
    {
      tables: [
        ...(other.isDependency ? one.tables.map(unfocused) : one.tables),
        ...(one.isDependency ? other.tables.map(unfocused) : other.tables),
      ],
      conditions: [...one.conditions, ...other.conditions],
      columns: new Map([...one.columns, ...other.columns]),
      nullable: new Map([...one.nullable, ...other.nullable]),
      isDependency: one.isDependency || other.isDependency,
      isRare: one.isRare || other.isRare,
    },
  ];
}

/** A join whose rows depend on another one. */
export function dependency(join: Join, on: Join): Join {
  return {
    ...join,
    tables: [...join.tables.map(unfocused), ...on.tables],
    conditions: [...join.conditions, ...on.conditions],
    isDependency: true,
    isRare: on.isRare,
  };
}

export function withCondition(join: Join, condition: Tree): Join {
  return { ...join, conditions: [...join.conditions, condition] };
}

function unfocused(table: JoinedTable): JoinedTable {
  return { ...table, isFocus: false };
}
