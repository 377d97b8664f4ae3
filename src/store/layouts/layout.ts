/** The layouts that a table has had: which columns its rows have as literals, in which order. Pure. */

/** A column of a table, or of a partition. */
export interface LayoutColumn {
  /** Its `attnum`. */
  readonly place: number;
  /** The `attnum` of the synced table's column with this name. */
  readonly column: number;
  /** The type, with its modifier. */
  readonly type: string;
  /** A digest of what the type consists of, such as the labels of an enum; empty if that is nothing. */
  readonly typeShape: string;
  /** Another one after each change of the column. */
  readonly version: string;
  /** No other type shares its values with this one, but shows them as other texts. */
  readonly isFirm: boolean;
  /** Of a domain, which may not allow null. */
  readonly isDomain: boolean;
}

/** The table itself, or one of its partitions. */
export interface LayoutMember {
  readonly oid: number;
  /** As in `pg_class.relkind`. */
  readonly kind: string;
  /** Another one after anything that may have gained or lost rows of the partition without triggers. */
  readonly identity: string;
  /** A snapshot as of which it had no rows: all that came later were logged. Null if none is known. */
  readonly emptyAsOf: string | null;
  /** How many columns it has had, with those that were dropped. */
  readonly width: number;
  /** Another one after its rows were written anew; null if it has none. */
  readonly file: number | null;
  /** In order, without those that were dropped. */
  readonly columns: readonly LayoutColumn[];
}

/** The layout of a table and its partitions, from the time on when it had one shape. */
export interface Layout {
  readonly number: number;
  /** As in cookies. */
  readonly shape: string;
  /** The table itself comes first. */
  readonly members: readonly LayoutMember[];
  /** Snapshots; see `tidemark.layout`. */
  readonly before: string | null;
  readonly after: string;
}

/** The same, as far as it matters for what comes after another one. `after` is null if nobody has seen it. */
export type LaterLayout = Pick<Layout, 'members' | 'before'> & { readonly after: string | null };

/**
 * What has become of a member's columns from one layout to the next: some were added (1) or dropped (-1), or they are the
 * same, so that rows are the same literals (0). Null if this may not be all that has happened since, even if it was undone:
 * columns were changed in other ways, or layouts came in between that nobody has recorded.
 */
export type Step = 1 | 0 | -1 | null;

export function stepBetween(before: LayoutMember, after: LayoutMember): Step {
  const known = new Map(before.columns.map((column) => [column.place, column]));
  const kept = after.columns.filter(({ place }) => known.has(place));
  const added = after.columns.length - kept.length;
  const dropped = before.columns.length - kept.length;
  const isSteady = kept.every((column) => {
    const { type, typeShape, version, isFirm } = known.get(column.place)!;
    const isSame = column.version === version || (column.type === type && isFirm && before.file === after.file);
    return isSame && column.typeShape === typeShape;
  });
  if (!isSteady || after.width - before.width !== added || (added > 0 && dropped > 0)) return null;
  return added > 0 ? 1 : dropped > 0 ? -1 : 0;
}

/** The layouts that came after one, up to the next that was recorded: there is one for each column that was added. */
export function layoutsUpTo(next: Layout, { members: known }: Layout): LaterLayout[] {
  const before = next.members.map((member) => known.find(({ oid }) => oid === member.oid));
  const counts = next.members.map((member, i) =>
    before[i] && stepBetween(before[i], member) === 1 ? member.columns.length - before[i].columns.length : 1,
  );
  const between = Array.from({ length: Math.max(...counts) - 1 }, (_, added) => ({
    members: next.members.map((member, i) => cut(member, Math.max(0, counts[i]! - added - 1))),
    before: next.before,
    after: null,
  }));
  return [...between, next];
}

/** A member as it was before its last columns were added, one after the other. */
function cut(member: LayoutMember, columns: number): LayoutMember {
  if (columns === 0) return member;
  return { ...member, width: member.width - columns, columns: member.columns.slice(0, -columns) };
}
