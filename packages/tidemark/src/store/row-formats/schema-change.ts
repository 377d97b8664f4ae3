/** How to read log rows that were written before their table was altered. Pure. */
import {
  type LaterRowFormat,
  type RelationFormat,
  type RowFormat,
  rowFormatsUpTo,
  type Step,
  stepBetween,
} from './row-format.js';

/** The changes of a table's row format since a cookie was issued. */
export interface SchemaChange {
  /** The snapshots around each change of the row format, from the cookie's format to the current one. */
  readonly transitions: readonly Pick<LaterRowFormat, 'before' | 'after'>[];
  /** The table and its partitions in the cookie's row format. */
  readonly relations: readonly RelationHistory[];
  /** The OIDs of partitions added since: all of them, and those that may have rows which were not logged. */
  readonly addedPartitions: readonly number[];
  readonly attachedPartitions: readonly number[];
}

/**
 * The tables that have been altered since a cookie was issued, by their IDs in the change log. `unknown`: rows logged
 * since then cannot be read. `lost`: in addition, rows may have been added or removed without being logged.
 */
export type SchemaChanges = ReadonlyMap<number, SchemaChange | 'unknown' | 'lost'>;

/** No table has been altered. */
export const noSchemaChanges: SchemaChanges = new Map();

/** Returns the tables whose rows can be read. */
export function readableChanges(schemaChanges: SchemaChanges): ReadonlyMap<number, SchemaChange> {
  const readable = new Map<number, SchemaChange>();
  for (const [id, schemaChange] of schemaChanges) if (typeof schemaChange !== 'string') readable.set(id, schemaChange);
  return readable;
}

/** The row formats of a table or a partition. */
export interface RelationHistory {
  readonly oid: number;
  /** For each row format, the first one with the same literals. */
  readonly firstEqual: readonly number[];
  /** For each row format, the number of fields in a literal. */
  readonly widths: readonly number[];
  /** For each row format after the first. */
  readonly steps: readonly Step[];
  /** How literals of these row formats become literals of the current table. Those of other formats stay the same. */
  readonly fieldMappings: ReadonlyMap<number, FieldMapping>;
}

/** For each column of the table, the field of a literal that it takes over, from 1 on; null if no field fits. */
export type FieldMapping = readonly (number | null)[];

/** A partition that was removed, given another file, or attached again. */
export interface RemovedPartition {
  readonly oid: number;
  /** The newest snapshot as of which it is known to have had no rows. */
  readonly emptyAsOf: string;
}

/**
 * Finds the partitions of the first row format that have been removed since, if they may have been empty by then.
 * @param rowFormats from the cookie's to the current one
 */
export function removedPartitions([base, ...later]: readonly RowFormat[]): RemovedPartition[] {
  return (base?.relations ?? []).flatMap((relation) => {
    const history = [relation, ...later.flatMap(({ relations }) => relationIn(relations, relation) ?? [])];
    const last = history.findLast(({ identity }) => identity === relation.identity)!;
    const isSame = history.length > later.length && history.every(({ identity }) => identity === relation.identity);
    if (isSame || last.emptyAsOf === null || (relation.kind === 'p' && history.length > later.length)) return [];
    return [{ oid: relation.oid, emptyAsOf: last.emptyAsOf }];
  });
}

/**
 * @param rowFormats from the cookie's to the current one
 * @param emptyOIDs the removed partitions that had no rows when they were removed, by OID
 * @returns undefined if rows cannot be read, or partitions may have gained or lost rows that were not logged
 */
export function schemaChangeOf(
  rowFormats: readonly RowFormat[],
  emptyOIDs: ReadonlySet<number> = new Set(),
): SchemaChange | undefined {
  const [base, ...recordedFormats] = rowFormats;
  const present = recordedFormats.at(-1);
  if (!base || !present) return undefined;
  const later = recordedFormats.flatMap((rowFormat, i) => rowFormatsUpTo(rowFormat, rowFormats[i]!));
  const [table] = present.relations;
  const isEmptyIn = ({ oid, identity }: RelationFormat) =>
    later.some(({ relations }) =>
      relations.some((m) => m.oid === oid && m.identity === identity && m.emptyAsOf !== null),
    );
  const histories = base.relations.map((relation) => {
    const successors = later.map(({ relations }) => relationIn(relations, relation));
    const isReadable = successors.every(
      (other) =>
        other?.identity === relation.identity ||
        (emptyOIDs.has(relation.oid) && (other === undefined || isEmptyIn(other))),
    );
    return isReadable ? historyOf(withoutGaps(relation, successors), table!) : undefined;
  });
  const relations = histories.filter((history) => history !== undefined);
  if (relations.length < histories.length) return undefined;
  const baseOIDs = new Set(base.relations.map(({ oid }) => oid));
  const addedPartitions = present.relations.filter(({ oid, kind }) => kind !== 'p' && !baseOIDs.has(oid));
  const attachedPartitions = addedPartitions.filter((relation) => !isEmptyIn(relation));
  return {
    transitions: later.map(({ before, after }) => ({ before, after })),
    relations,
    addedPartitions: addedPartitions.map(({ oid }) => oid),
    attachedPartitions: attachedPartitions.map(({ oid }) => oid),
  };
}

function relationIn(relations: readonly RelationFormat[], { oid }: RelationFormat): RelationFormat | undefined {
  return relations.find((relation) => relation.oid === oid);
}

/** Returns the row formats of a relation. While it is not a partition of the table, it keeps the last one. */
function withoutGaps(relation: RelationFormat, later: readonly (RelationFormat | undefined)[]): RelationFormat[] {
  const rowFormats = [relation];
  for (const other of later) rowFormats.push(other ?? rowFormats.at(-1)!);
  return rowFormats;
}

function historyOf(rowFormats: readonly RelationFormat[], table: RelationFormat): RelationHistory | undefined {
  const steps = rowFormats.slice(1).map((rowFormat, i) => stepBetween(rowFormats[i]!, rowFormat));
  const firstEqual = rowFormats.map((_, i) => steps.slice(0, i).findLastIndex((step) => step !== 0) + 1);
  const fieldMappings = new Map<number, FieldMapping>();
  for (const index of new Set(firstEqual)) {
    const mapping = fieldMappingOf(rowFormats[index]!, table);
    if (mapping.some((field, i) => field === null && table.columns[i]!.isDomain)) return undefined;
    if (mapping.length !== rowFormats[index]!.columns.length || mapping.some((field, i) => field !== i + 1)) {
      fieldMappings.set(index, mapping);
    }
  }
  return {
    oid: rowFormats[0]!.oid,
    firstEqual,
    widths: rowFormats.map(({ columns }) => columns.length),
    steps,
    fieldMappings,
  };
}

/** If a column's type has changed, the new type may not allow old values. No unchanged view reads such a column. */
function fieldMappingOf({ columns }: RelationFormat, table: RelationFormat): FieldMapping {
  return table.columns.map(({ attnum, type, typeHash }) => {
    const field = columns.findIndex(
      (column) => column.column === attnum && column.type === type && column.typeHash === typeHash,
    );
    return field < 0 ? null : field + 1;
  });
}
