/** The window against a model: a list of all transactions, and who had seen which of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasSeen, parseSnapshot, type Snapshot } from '../protocol/snapshot.js';
import { mostMutations, mostRows, type Report, type SharedHeader } from '../store/header.js';
import { Window } from './window.js';

const tables = [1, 2, 3];
const groups = ['g', 'h'];

interface Written {
  readonly xid: bigint;
  readonly table: number;
  readonly rows: number;
  readonly truncates: boolean;
  readonly group: string | undefined;
}

/** A history in steps: a transaction begins, or one of those in progress commits. */
interface Step {
  readonly commits: number;
  readonly table: number;
  readonly rows: number;
  readonly truncates: boolean;
  readonly group: string | undefined;
  readonly looks: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    commits: fc.integer({ min: -2, max: 3 }),
    table: fc.constantFrom(...tables),
    rows: fc.constantFrom(1, 3, mostRows),
    truncates: fc.boolean(),
    group: fc.constantFrom(undefined, ...groups),
    looks: fc.boolean(),
  }),
  { minLength: 5, maxLength: 60 },
);

function header(snapshot: Snapshot, more: Partial<SharedHeader> = {}): SharedHeader {
  return {
    snapshot,
    shown: snapshot,
    next: snapshot.xmax,
    history: { timelines: [], current: null, lsn: 0n },
    recovery: false,
    started: '1',
    installID: 'i',
    database: 'd',
    tick: null,
    diverged: false,
    horizon: 1n,
    aging: 1n,
    changed: [],
    truncated: false,
    ...more,
  };
}

class Model {
  readonly committed: Written[] = [];
  readonly #open: Written[] = [];
  #next = 10n;

  step({ commits, table, rows, truncates, group }: Step): void {
    if (commits < 0 || this.#open.length === 0) {
      this.#open.push({ xid: this.#next++, table, rows, truncates, group });
    } else {
      this.committed.push(...this.#open.splice(commits % this.#open.length, 1));
    }
  }

  snapshot(): Snapshot {
    const open = this.#open.map(({ xid }) => xid).sort((a, b) => Number(a - b));
    return parseSnapshot(`${open[0] ?? this.#next}:${this.#next}:${open.join()}`)!;
  }

  unseenBy(base: Snapshot): Written[] {
    return this.committed.filter(({ xid }) => !hasSeen(base, xid));
  }

  report(base: Snapshot): Report {
    const unseen = this.unseenBy(base);
    return {
      header: header(this.snapshot()),
      changes: tables.flatMap((table): Report['changes'] => {
        const own = unseen.filter((one) => one.table === table);
        // The transactions of rows beyond those that are counted are not listed.
        let rows = 0;
        const xids = own.flatMap(({ xid, rows: written }) => {
          const count = Math.min(written, mostRows - rows);
          rows += count;
          return count === 0 ? [] : [[String(xid), count] as const];
        });
        return own.length === 0 ? [] : [[table, rows, xids]];
      }),
      truncations: unseen.flatMap(({ truncates, table, xid }) => (truncates ? [[table, String(xid)] as const] : [])),
      mutations: unseen.flatMap(({ group, xid }) => (group ? [[group, 'u', String(xid)] as const] : [])),
      groups: new Map(),
    };
  }
}

it.each([0, 1, 7, 1000])('a window of %i says what a base has not seen, as long as it reaches so far', (most) => {
  fc.assert(
    fc.property(steps, fc.subarray(tables, { minLength: 1 }), (history, asked) => {
      const model = new Model();
      const bases = [model.snapshot()];
      const window = new Window(header(bases[0]!), tables, most);
      for (const step of history) {
        model.step(step);
        if (!step.looks) continue;
        const report = model.report(window.header.snapshot);
        expect(window.isContinuedBy(report.header)).toBe(true);
        window.extend(report);
        bases.push(model.snapshot());
        expect(window.reaches(bases.at(-1)!)).toBe(true);
        for (const base of [undefined, ...bases]) {
          if (base && window.reaches(base)) continue;
          // Whoever has seen all up to a snapshot, and some transactions, has seen all that the group has done.
          for (const group of groups) {
            const { since, xids } = window.movesOf(group, base);
            const unknown = model.unseenBy(since!).filter((one) => one.group === group && !xids.includes(one.xid));
            expect(unknown).toEqual([]);
          }
        }
        for (const base of bases) {
          if (!window.reaches(base)) continue;
          const unseen = model.unseenBy(base);
          const own = unseen.filter(({ table }) => asked.includes(table));
          const { changed, truncated, base: like } = window.since(base, asked);
          const rowsOf = (table: number) => own.reduce((sum, one) => (one.table === table ? sum + one.rows : sum), 0);
          for (const [table, rows] of changed) {
            if (like) expect(rows).toBe(rowsOf(table));
            // Of more than is counted it is not known who wrote it: then a table may be said to have changed in vain.
            else if (rowsOf(table) > 0) expect(rows).toBeGreaterThanOrEqual(Math.min(rowsOf(table), mostRows));
          }
          const changedTables = changed.map(([table]) => table);
          expect(changedTables).toEqual(expect.arrayContaining([...new Set(own.map(({ table }) => table))]));
          for (const { table, xid } of like ? model.committed : []) {
            if (asked.includes(table)) expect(hasSeen(like!, xid)).toBe(hasSeen(base, xid));
          }
          expect(truncated).toBe(own.some(({ truncates }) => truncates));
          for (const group of groups) {
            const moves = unseen.flatMap((one) => (one.group === group ? [one.xid] : []));
            expect(window.hasMoved(base, group)).toBe(moves.length > 0);
            expect(window.movesOf(group, base)).toEqual({
              since: undefined,
              xids: moves.sort((a, b) => Number(a - b)),
            });
          }
          expect(window.hasMoved(base)).toBe(unseen.some((one) => one.group !== undefined));
        }
      }
      if (most === 1000) for (const base of bases) expect(window.reaches(base)).toBe(true);
    }),
    { seed: 3, numRuns: 150 },
  );
});

it('says of a base that is newer than the newest look that nothing is known to have happened to it', () => {
  const window = new Window(header(parseSnapshot('10:12:10')!), tables, 10);
  const newer = parseSnapshot('11:13:')!;
  expect(window.since(newer, tables)).toEqual({ changed: [], truncated: false, base: newer });
});

it('takes bases that have seen the same of some tables for one', () => {
  const model = new Model();
  const window = new Window(header(model.snapshot()), tables, 100);
  const bases = Array.from({ length: 3 }, (_, i) => {
    const step = { table: i === 0 ? 1 : 2, rows: 1, truncates: false, group: undefined, looks: true };
    model.step({ ...step, commits: -1 });
    model.step({ ...step, commits: 0 });
    const before = window.header.snapshot;
    window.extend(model.report(before));
    return before;
  });
  const [first, ...others] = bases.map((base) => window.since(base, [1]).base!.text);
  expect(others).toEqual([window.header.snapshot.text, window.header.snapshot.text]);
  expect(first).not.toBe(others[0]);
});

it('forgets the oldest part when it holds too much, and no more than it must', () => {
  const model = new Model();
  const window = new Window(header(model.snapshot()), tables, 80);
  const bases: Snapshot[] = [];
  for (let i = 0; i < 400; i++) {
    bases.push(model.snapshot());
    const step = { table: 1, rows: 1, truncates: false, group: undefined, looks: true };
    model.step({ ...step, commits: -1 });
    model.step({ ...step, commits: 0 });
    window.extend(model.report(window.header.snapshot));
  }
  const reached = bases.filter((base) => window.reaches(base)).length;
  expect(reached).toBeGreaterThanOrEqual(60);
  expect(reached).toBeLessThanOrEqual(80);
});

describe('more mutations than are listed', () => {
  it('may be of any group', () => {
    const before = parseSnapshot('10:10:')!;
    const window = new Window(header(before), tables, 10_000);
    const after = parseSnapshot('5000:5000:')!;
    const mutations = Array.from({ length: mostMutations }, (_, i) => ['g', 'u', String(10 + i)] as const);
    window.extend({ header: header(after), changes: [], truncations: [], mutations, groups: new Map() });
    expect(window.hasMoved(before, 'h')).toBe(true);
    expect(window.hasMoved(after, 'h')).toBe(false);
    expect(window.movesOf('h', before)).toEqual({ since: after, xids: [] });
    expect(window.movesOf('h', undefined)).toEqual({ since: after, xids: [] });
    expect(window.movesOf('h', after)).toEqual({ since: undefined, xids: [] });
  });
});

describe('another history', () => {
  const snapshot = parseSnapshot('20:22:20')!;
  const window = () => new Window(header(parseSnapshot('10:12:10')!, { next: 14n }), tables, 10);

  it('is not begun by a later report of the same', () => {
    expect(window().isContinuedBy(header(snapshot))).toBe(true);
  });

  it.each<[string, Partial<SharedHeader>]>([
    ['of a server that was started anew', { started: '2' }],
    ['of another installation', { installID: 'other' }],
    ['of another database', { database: 'other' }],
    ['of a standby', { recovery: true }],
    ['that does not know the tick', { diverged: true }],
    ['in which fewer transactions have begun', { shown: parseSnapshot('12:13:')!, next: 13n }],
    ['that does not show what was seen', { shown: parseSnapshot('9:22:9')! }],
    ['whose log may lack what was written since', { horizon: 11n }],
  ])('is that %s', (_, more) => {
    expect(window().isContinuedBy(header(snapshot, more))).toBe(false);
  });
});
