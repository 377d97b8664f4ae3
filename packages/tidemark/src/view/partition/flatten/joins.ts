/** Joins of tables as plain values, from which a view's companion queries are built. Pure. */
import type { Tree } from '../../parse/tree.js';

/** An occurrence of a table in a join, under its own alias. */
export interface JoinedTable {
  /** Its RangeVar, with the alias. */
  readonly range: Tree;
  readonly alias: string;
  /** Its number among the tables that the view's query reads; see `tablesIn`. */
  readonly occurrence: number;
  /** True if the join exists to find the table's changed rows. */
  readonly isFocus: boolean;
}

/** A column of a joined table. */
export interface Column {
  readonly alias: string;
  readonly name: string;
  readonly isNotNull: boolean;
}

/** The columns of an entry of a range table, in order; undefined for those that are not columns of a joined table. */
export type Columns = readonly (Column | undefined)[];

/** Columns by the number of the entry in its query's range table. */
export type Entries = ReadonlyMap<number, Columns>;

/** Combinations of rows of tables that meet all conditions. */
export interface Join {
  readonly tables: readonly JoinedTable[];
  readonly conditions: readonly Tree[];
  /** The entries of which each row of the query contains one row. */
  readonly columns: Entries;
  /** The entries that an outer join may fill with nulls. Only the conditions of further joins may refer to these. */
  readonly nullable: Entries;
  /**
   * True if the query's rows only depend on such a combination, and need not contain one. The focus is on the tables on
   * which they depend.
   */
  readonly isDependency: boolean;
  /** True if relevant rows of the focused tables are so rare that the join need not be connected. */
  readonly isRare: boolean;
}

/** A join with the columns of the query's result. */
export interface FlatJoin extends Join {
  readonly outputs: Columns;
}

/** A query as a list of joins. */
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

/** Returns the product of two joins; none if both are dependencies, because each then has its own join. */
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

/** Returns a join whose rows depend on another one. */
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
