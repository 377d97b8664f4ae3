/** Tests the cache against a model: a list of all transactions, and which snapshots have seen which of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasSeen, parseSnapshot, type Snapshot } from '../protocol/snapshot.js';
import { type DatabaseState, maxMutations, maxRows, type Observation } from '../store/polls/observation.js';
import { ChangeLogCache } from './change-log-cache.js';
import { isContinuedBy } from './continuation.js';

const tables = [1, 2, 3];
const groups = ['g', 'h'];

interface WrittenTransaction {
  readonly xid: bigint;
  readonly table: number;
  readonly rows: number;
  readonly truncates: boolean;
  readonly group: string | undefined;
}

/** A step of a history: a transaction begins, or one of those in progress commits. */
interface Step {
  readonly commits: number;
  readonly table: number;
  readonly rows: number;
  readonly truncates: boolean;
  readonly group: string | undefined;
  readonly polls: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    commits: fc.integer({ min: -2, max: 3 }),
    table: fc.constantFrom(...tables),
    rows: fc.constantFrom(1, 3, maxRows),
    truncates: fc.boolean(),
    group: fc.constantFrom(undefined, ...groups),
    polls: fc.boolean(),
  }),
  { minLength: 5, maxLength: 60 },
);

function state(snapshot: Snapshot, more: Partial<DatabaseState> = {}): DatabaseState {
  return {
    snapshot,
    visibleSnapshot: snapshot,
    nextXid: snapshot.xmax,
    history: { timelines: [], current: null, lsn: 0n },
    recovery: false,
    serverStart: '1',
    installID: 'i',
    database: 'd',
    heartbeat: null,
    diverged: false,
    horizon: 1n,
    aging: 1n,
    changeCounts: [],
    truncated: false,
    ...more,
  };
}

class Model {
  readonly committed: WrittenTransaction[] = [];
  readonly #open: WrittenTransaction[] = [];
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

  unseenBy(base: Snapshot): WrittenTransaction[] {
    return this.committed.filter(({ xid }) => !hasSeen(base, xid));
  }

  observation(base: Snapshot): Observation {
    const unseen = this.unseenBy(base);
    return {
      state: state(this.snapshot()),
      changes: tables.flatMap((table): Observation['changes'] => {
        const writes = unseen.filter((one) => one.table === table);
        // An observation does not list the transactions of rows beyond those that it counts.
        let rows = 0;
        const xids = writes.flatMap(({ xid, rows: rowCount }) => {
          const count = Math.min(rowCount, maxRows - rows);
          rows += count;
          return count === 0 ? [] : [[String(xid), count] as const];
        });
        return writes.length === 0 ? [] : [[table, rows, xids]];
      }),
      truncations: unseen.flatMap(({ truncates, table, xid }) => (truncates ? [[table, String(xid)] as const] : [])),
      mutations: unseen.flatMap(({ group, xid }) => (group ? [[group, 'u', String(xid)] as const] : [])),
      groups: new Map(),
    };
  }
}

it.each([0, 1, 7, 1000])(
  'a cache of %i transactions returns the changes that a base has not seen, as far back as it reaches',
  (maxTransactions) => {
    fc.assert(
      fc.property(steps, fc.subarray(tables, { minLength: 1 }), (history, tableIDs) => {
        const model = new Model();
        const bases = [model.snapshot()];
        const cache = new ChangeLogCache(state(bases[0]!), tables, maxTransactions);
        for (const step of history) {
          model.step(step);
          if (!step.polls) continue;
          const observation = model.observation(cache.state.snapshot);
          expect(isContinuedBy(cache.state, observation.state)).toBe(true);
          cache.extend(observation);
          bases.push(model.snapshot());
          expect(cache.reaches(bases.at(-1)!)).toBe(true);
          for (const base of [undefined, ...bases]) {
            if (base && cache.reaches(base)) continue;
            // A snapshot that includes all up to `since`, and these transactions, includes all of the group's mutations.
            for (const group of groups) {
              const { since, xids } = cache.mutationsOf(group, base);
              const unknown = model.unseenBy(since!).filter((one) => one.group === group && !xids.includes(one.xid));
              expect(unknown).toEqual([]);
            }
          }
          for (const base of bases) {
            if (!cache.reaches(base)) continue;
            const unseen = model.unseenBy(base);
            const writes = unseen.filter(({ table }) => tableIDs.includes(table));
            const { changed, truncated, base: equivalentBase } = cache.since(base, tableIDs);
            const rowsOf = (table: number) =>
              writes.reduce((sum, one) => (one.table === table ? sum + one.rows : sum), 0);
            for (const [table, rows] of changed) {
              if (equivalentBase) expect(rows).toBe(rowsOf(table));
              // If some rows were not counted, their transactions are unknown. Then a table may wrongly count as changed.
              else if (rowsOf(table) > 0) expect(rows).toBeGreaterThanOrEqual(Math.min(rowsOf(table), maxRows));
            }
            const changedTables = changed.map(([table]) => table);
            expect(changedTables).toEqual(expect.arrayContaining([...new Set(writes.map(({ table }) => table))]));
            for (const { table, xid } of equivalentBase ? model.committed : []) {
              if (tableIDs.includes(table)) expect(hasSeen(equivalentBase!, xid)).toBe(hasSeen(base, xid));
            }
            expect(truncated).toBe(writes.some(({ truncates }) => truncates));
            for (const group of groups) {
              const expectedXids = unseen.flatMap((one) => (one.group === group ? [one.xid] : []));
              expect(cache.hasMutations(base, group)).toBe(expectedXids.length > 0);
              expect(cache.mutationsOf(group, base)).toEqual({
                since: undefined,
                xids: expectedXids.sort((a, b) => Number(a - b)),
              });
            }
            expect(cache.hasMutations(base)).toBe(unseen.some((one) => one.group !== undefined));
          }
        }
        if (maxTransactions === 1000) for (const base of bases) expect(cache.reaches(base)).toBe(true);
      }),
      { seed: 3, numRuns: 150 },
    );
  },
);

it('reports no changes for a base that is newer than the newest poll', () => {
  const cache = new ChangeLogCache(state(parseSnapshot('10:12:10')!), tables, 10);
  const newer = parseSnapshot('11:13:')!;
  expect(cache.since(newer, tables)).toEqual({ changed: [], truncated: false, base: newer });
});

it('treats bases that have seen the same changes of a table as equal', () => {
  const model = new Model();
  const cache = new ChangeLogCache(state(model.snapshot()), tables, 100);
  const bases = Array.from({ length: 3 }, (_, i) => {
    const step = { table: i === 0 ? 1 : 2, rows: 1, truncates: false, group: undefined, polls: true };
    model.step({ ...step, commits: -1 });
    model.step({ ...step, commits: 0 });
    const before = cache.state.snapshot;
    cache.extend(model.observation(before));
    return before;
  });
  const [first, ...rest] = bases.map((base) => cache.since(base, [1]).base!.text);
  expect(rest).toEqual([cache.state.snapshot.text, cache.state.snapshot.text]);
  expect(first).not.toBe(rest[0]);
});

it('drops the oldest transactions when it is full, and no more than necessary', () => {
  const model = new Model();
  const cache = new ChangeLogCache(state(model.snapshot()), tables, 80);
  const bases: Snapshot[] = [];
  for (let i = 0; i < 400; i++) {
    bases.push(model.snapshot());
    const step = { table: 1, rows: 1, truncates: false, group: undefined, polls: true };
    model.step({ ...step, commits: -1 });
    model.step({ ...step, commits: 0 });
    cache.extend(model.observation(cache.state.snapshot));
  }
  const reachable = bases.filter((base) => cache.reaches(base)).length;
  expect(reachable).toBeGreaterThanOrEqual(60);
  expect(reachable).toBeLessThanOrEqual(80);
});

describe('mutations beyond the listed ones', () => {
  it('may belong to any group', () => {
    const before = parseSnapshot('10:10:')!;
    const cache = new ChangeLogCache(state(before), tables, 10_000);
    const after = parseSnapshot('5000:5000:')!;
    const mutations = Array.from({ length: maxMutations }, (_, i) => ['g', 'u', String(10 + i)] as const);
    cache.extend({ state: state(after), changes: [], truncations: [], mutations, groups: new Map() });
    expect(cache.hasMutations(before, 'h')).toBe(true);
    expect(cache.hasMutations(after, 'h')).toBe(false);
    expect(cache.mutationsOf('h', before)).toEqual({ since: after, xids: [] });
    expect(cache.mutationsOf('h', undefined)).toEqual({ since: after, xids: [] });
    expect(cache.mutationsOf('h', after)).toEqual({ since: undefined, xids: [] });
  });
});

describe('isContinuedBy', () => {
  const snapshot = parseSnapshot('20:22:20')!;
  const before = state(parseSnapshot('10:12:10')!, { nextXid: 14n });

  it('accepts a later observation of the same database', () => {
    expect(isContinuedBy(before, state(snapshot))).toBe(true);
  });

  it.each<[string, Partial<DatabaseState>]>([
    ['of a restarted server', { serverStart: '2' }],
    ['with another install ID', { installID: 'other' }],
    ['of another database', { database: 'other' }],
    ['of a standby', { recovery: true }],
    ['of a database without the heartbeat', { diverged: true }],
    ['in which fewer transactions have begun', { visibleSnapshot: parseSnapshot('12:13:')!, nextXid: 13n }],
    ['that does not show what the cache has seen', { visibleSnapshot: parseSnapshot('9:22:9')! }],
    ['whose change log may lack unread changes', { horizon: 11n }],
  ])('rejects an observation %s', (_, more) => {
    expect(isContinuedBy(before, state(snapshot, more))).toBe(false);
  });
});
