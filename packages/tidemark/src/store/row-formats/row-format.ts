/** The row formats that a table has had: the columns of its row literals, in order. Pure. */

/** A column of a table, or of a partition. */
export interface FormatColumn {
  /** Its `attnum`. */
  readonly attnum: number;
  /** The `attnum` of the synced table's column with this name. */
  readonly column: number;
  /** The type, with its modifier. */
  readonly type: string;
  /** A digest of what the type consists of, such as the labels of an enum; empty if it has no parts. */
  readonly typeHash: string;
  /** Changes with every change of the column. */
  readonly version: string;
  /** No other type has the same values but shows them as different text. */
  readonly hasStableText: boolean;
  /** The type is a domain, which may not allow null. */
  readonly isDomain: boolean;
}

/** The row format of the table itself, or of one of its partitions. */
export interface RelationFormat {
  readonly oid: number;
  /** As in `pg_class.relkind`. */
  readonly kind: string;
  /** Changes with everything that may have added or removed rows of the partition without triggers. */
  readonly identity: string;
  /** A snapshot as of which it had no rows, so all later rows were logged. Null if none is known. */
  readonly emptyAsOf: string | null;
  /** The number of columns that it has had, including dropped ones. */
  readonly width: number;
  /** Changes when its rows are rewritten; null if it has no file. */
  readonly file: number | null;
  /** In order, without dropped columns. */
  readonly columns: readonly FormatColumn[];
}

/** The row format of a table and its partitions, for as long as the table has one schema hash. */
export interface RowFormat {
  readonly number: number;
  /** As in cookies. */
  readonly schemaHash: string;
  /** The table itself comes first. */
  readonly relations: readonly RelationFormat[];
  /** Snapshots; see `tidemark.row_format`. */
  readonly before: string | null;
  readonly after: string;
}

/** A row format that follows another one. `after` is null if the row format was not recorded. */
export type LaterRowFormat = Pick<RowFormat, 'relations' | 'before'> & { readonly after: string | null };

/**
 * The change of a relation's columns from one row format to the next: some were added (1) or dropped (-1), or they are
 * the same, so that rows have the same literals (0). Null if other changes are possible, even if they were undone:
 * columns were changed in other ways, or there were unrecorded row formats in between.
 */
export type Step = 1 | 0 | -1 | null;

export function stepBetween(before: RelationFormat, after: RelationFormat): Step {
  const columnsBefore = new Map(before.columns.map((column) => [column.attnum, column]));
  const retainedColumns = after.columns.filter(({ attnum }) => columnsBefore.has(attnum));
  const added = after.columns.length - retainedColumns.length;
  const dropped = before.columns.length - retainedColumns.length;
  const isUnchanged = retainedColumns.every((column) => {
    const { type, typeHash, version, hasStableText } = columnsBefore.get(column.attnum)!;
    const isSame = column.version === version || (column.type === type && hasStableText && before.file === after.file);
    return isSame && column.typeHash === typeHash;
  });
  if (!isUnchanged || after.width - before.width !== added || (added > 0 && dropped > 0)) return null;
  return added > 0 ? 1 : dropped > 0 ? -1 : 0;
}

/** Returns the row formats after one, up to the next that was recorded. Each added column makes one. */
export function rowFormatsUpTo(next: RowFormat, { relations: previousRelations }: RowFormat): LaterRowFormat[] {
  const before = next.relations.map((relation) => previousRelations.find(({ oid }) => oid === relation.oid));
  const counts = next.relations.map((relation, i) =>
    before[i] && stepBetween(before[i], relation) === 1 ? relation.columns.length - before[i].columns.length : 1,
  );
  const between = Array.from({ length: Math.max(...counts) - 1 }, (_, added) => ({
    relations: next.relations.map((relation, i) => cut(relation, Math.max(0, counts[i]! - added - 1))),
    before: next.before,
    after: null,
  }));
  return [...between, next];
}

/** Returns a relation's row format without its last columns. */
function cut(relation: RelationFormat, columns: number): RelationFormat {
  if (columns === 0) return relation;
  return { ...relation, width: relation.width - columns, columns: relation.columns.slice(0, -columns) };
}
