/** How a table's log rows are to be read that were logged before it was altered. Pure. */
import { type LaterLayout, type Layout, type LayoutMember, layoutsUpTo, type Step, stepBetween } from './layout.js';

/** What has become of a table since a cookie was given. */
export interface Alteration {
  /** What led from one layout to the next, as of which snapshots. The first layout is the cookie's, the last that of now. */
  readonly transitions: readonly Pick<LaterLayout, 'before' | 'after'>[];
  /** The table itself, or each of its partitions, that has been there all the time. */
  readonly members: readonly MemberHistory[];
  /** The partitions that have been added since, by OID: all, and those that may have rows which were not logged. */
  readonly added: readonly number[];
  readonly attached: readonly number[];
}

/**
 * The tables that have been altered since a cookie was given, by their IDs in the change log. `unknown`: rows that were
 * logged since then cannot be read. `lost`: besides, rows may have come or gone without being logged.
 */
export type Altered = ReadonlyMap<number, Alteration | 'unknown' | 'lost'>;

/** No table has been altered. */
export const nothingAltered: Altered = new Map();

/** Those whose rows can be read. */
export function readableIn(altered: Altered): ReadonlyMap<number, Alteration> {
  const known = new Map<number, Alteration>();
  for (const [id, alteration] of altered) if (typeof alteration !== 'string') known.set(id, alteration);
  return known;
}

/** The layouts of a table or a partition. */
export interface MemberHistory {
  readonly oid: number;
  /** For each layout: the first one in which rows were the same literals. */
  readonly same: readonly number[];
  /** For each layout: how many fields a literal has. */
  readonly widths: readonly number[];
  /** For each layout after the first. */
  readonly steps: readonly Step[];
  /** How literals of these layouts become literals of the table as it is now; of others, they are the same. */
  readonly forms: ReadonlyMap<number, Form>;
}

/** For each column of the table: which field of a literal it takes over, from 1 on; null if there is none that fits. */
export type Form = readonly (number | null)[];

/** A partition that is gone, or has been replaced by another file or another attachment of it. */
export interface GonePartition {
  readonly oid: number;
  /** The newest snapshot as of which it is known to have had no rows. */
  readonly emptyAsOf: string;
}

/**
 * Finds the partitions of the first layout that have gone since, as far as they may have had no rows by then.
 * @param layouts from the cookie's to the present one
 */
export function gonePartitions([base, ...later]: readonly Layout[]): GonePartition[] {
  return (base?.members ?? []).flatMap((member) => {
    const known = [member, ...later.flatMap(({ members }) => memberIn(members, member) ?? [])];
    const last = known.findLast(({ identity }) => identity === member.identity)!;
    const isSame = known.length > later.length && known.every(({ identity }) => identity === member.identity);
    if (isSame || last.emptyAsOf === null || (member.kind === 'p' && known.length > later.length)) return [];
    return [{ oid: member.oid, emptyAsOf: last.emptyAsOf }];
  });
}

/**
 * @param layouts from the cookie's to the present one
 * @param emptied the partitions that have gone since, and had no rows when they went, by OID
 * @returns undefined if rows cannot be read, or partitions may have gained or lost rows that were not logged
 */
export function alterationOf(
  layouts: readonly Layout[],
  emptied: ReadonlySet<number> = new Set(),
): Alteration | undefined {
  const [base, ...recorded] = layouts;
  const present = recorded.at(-1);
  if (!base || !present) return undefined;
  const later = recorded.flatMap((layout, i) => layoutsUpTo(layout, layouts[i]!));
  const [table] = present.members;
  const isEmptyIn = ({ oid, identity }: LayoutMember) =>
    later.some(({ members }) => members.some((m) => m.oid === oid && m.identity === identity && m.emptyAsOf !== null));
  const histories = base.members.map((member) => {
    const others = later.map(({ members }) => memberIn(members, member));
    const isKnown = others.every(
      (other) =>
        other?.identity === member.identity || (emptied.has(member.oid) && (other === undefined || isEmptyIn(other))),
    );
    return isKnown ? historyOf(withoutGaps(member, others), table!) : undefined;
  });
  const members = histories.filter((history) => history !== undefined);
  if (members.length < histories.length) return undefined;
  const known = new Set(base.members.map(({ oid }) => oid));
  const added = present.members.filter(({ oid, kind }) => kind !== 'p' && !known.has(oid));
  const attached = added.filter((member) => !isEmptyIn(member));
  return {
    transitions: later.map(({ before, after }) => ({ before, after })),
    members,
    added: added.map(({ oid }) => oid),
    attached: attached.map(({ oid }) => oid),
  };
}

function memberIn(members: readonly LayoutMember[], { oid }: LayoutMember): LayoutMember | undefined {
  return members.find((member) => member.oid === oid);
}

/** The layouts of a member. While it is no partition of the table, it keeps the last one. */
function withoutGaps(member: LayoutMember, later: readonly (LayoutMember | undefined)[]): LayoutMember[] {
  const layouts = [member];
  for (const other of later) layouts.push(other ?? layouts.at(-1)!);
  return layouts;
}

function historyOf(layouts: readonly LayoutMember[], table: LayoutMember): MemberHistory | undefined {
  const steps = layouts.slice(1).map((layout, i) => stepBetween(layouts[i]!, layout));
  const same = layouts.map((_, i) => steps.slice(0, i).findLastIndex((step) => step !== 0) + 1);
  const forms = new Map<number, Form>();
  for (const place of new Set(same)) {
    const form = formOf(layouts[place]!, table);
    if (form.some((field, i) => field === null && table.columns[i]!.isDomain)) return undefined;
    if (form.length !== layouts[place]!.columns.length || form.some((field, i) => field !== i + 1)) {
      forms.set(place, form);
    }
  }
  return { oid: layouts[0]!.oid, same, widths: layouts.map(({ columns }) => columns.length), steps, forms };
}

/** A column whose type has changed may have values that its new type does not allow. No view that is the same reads it. */
function formOf({ columns }: LayoutMember, table: LayoutMember): Form {
  return table.columns.map(({ place, type, typeShape }) => {
    const field = columns.findIndex(
      (column) => column.column === place && column.type === type && column.typeShape === typeShape,
    );
    return field < 0 ? null : field + 1;
  });
}
