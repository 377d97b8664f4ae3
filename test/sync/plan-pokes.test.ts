import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../../src/protocol/snapshot.js';
import { type TailBatch, type TailChange, tailedRows } from '../../src/store/tail.js';
import type { Audience, Listener } from '../../src/sync/audiences.js';
import { afforded, mostQuestions, planPokes } from '../../src/sync/plan-pokes.js';
import type { CompiledView } from '../../src/view/compile.js';
import type { Strategy } from '../../src/view/strategy.js';

const todo = { oid: 16001, id: 1 };
const share = { oid: 16002, id: 2 };
const ids = new Map([todo, share].map(({ oid, id }) => [oid, id]));

const listener = (name: string): Listener => ({ clientGroupID: `group of ${name}`, userID: name }) as Listener;
const ann = listener('ann');
const ben = listener('ben');
const everybody = new Set([ann, ben]);

/** An audience with a seat for each group of listeners. */
function audience(strategy: Strategy, tables: readonly { oid: number }[], ...seats: Listener[][]): Audience {
  return {
    view: { strategy, occurrenceTables: tables.map(({ oid }) => oid) } as unknown as CompiledView,
    seats: new Map(seats.map((listeners, i) => [`${i}`, { literals: [`'${i}'`], listeners: new Set(listeners) }])),
  };
}

const change = (table: { id: number }, more: Partial<TailChange> = {}): TailChange => ({
  table: table.id,
  rows: 1,
  xid: '700',
  truncated: false,
  ...more,
});

const batch = (changes: TailChange[], more: Partial<TailBatch> = {}): TailBatch => ({
  snapshot: parseSnapshot('701:701:')!,
  changes,
  mutations: 0,
  groups: [],
  ...more,
});

/** The plan in words: who is poked, and who is asked about in which mode. */
function plan(audiences: Audience[], told: TailBatch) {
  const { poked, questions } = planPokes(audiences, everybody, told, ids);
  return {
    poked: [...poked].map(({ userID }) => userID),
    asked: questions.map(({ question, seats }) => [question.mode, ...seats.flatMap((seat) => [...seat.listeners])]),
  };
}

const todos = (...seats: Listener[][]) => audience('incremental', [todo, share], ...seats);
const totals = (...seats: Listener[][]) => audience('compare', [todo], ...seats);

describe('a change', () => {
  it('is no matter of views that do not read its table', () => {
    expect(plan([audience('incremental', [share], [ann])], batch([change(todo)]))).toEqual({ poked: [], asked: [] });
  });

  it('is asked about seat by seat', () => {
    expect(plan([todos([ann], [ben])], batch([change(todo)]))).toEqual({ poked: [], asked: [['net', ann, ben]] });
  });

  it('of one transaction in several tables is judged by its outcome', () => {
    expect(plan([todos([ann])], batch([change(todo), change(share)])).asked).toEqual([['net', ann]]);
  });

  it.each([
    ['in one table', [change(todo, { xid: null })]],
    ['in two tables', [change(todo), change(share, { xid: '699' })]],
  ])('of several transactions %s is judged by what they touched', (_, changes) => {
    expect(plan([todos([ann])], batch(changes)).asked).toEqual([['ever', ann]]);
  });

  it('of several transactions pokes all who see a view that must be compared', () => {
    const told = batch([change(todo, { xid: null })]);
    expect(plan([totals([ann]), todos([ben])], told)).toEqual({ poked: ['ann'], asked: [['ever', ben]] });
  });

  it('of another transaction in a table that the view does not read is no matter', () => {
    expect(plan([totals([ann])], batch([change(todo), change(share, { xid: '699' })])).asked).toEqual([['net', ann]]);
  });

  it('by TRUNCATE pokes all who see the table', () => {
    expect(plan([todos([ann])], batch([change(todo, { truncated: true })]))).toEqual({ poked: ['ann'], asked: [] });
  });
});

describe('a change that costs too much to ask about', () => {
  it.each([
    ['net', 1, { rows: afforded.net }, [['net', ann]], []],
    ['net', 1, { rows: afforded.net + 1 }, [['ever', ann]], []],
    ['ever', 1, { rows: afforded.ever, xid: null }, [['ever', ann]], []],
    ['ever', 1, { rows: afforded.ever + 1, xid: null }, [], ['ann']],
  ])('%s, %d seat, %j', (_, __, more, asked, poked) => {
    expect(plan([todos([ann])], batch([change(todo, more)]))).toEqual({ poked, asked });
  });

  it('pokes whole audiences, and asks for as many as it can', () => {
    const seats = Array.from({ length: afforded.compare }, () => [ann]);
    const told = batch([change(todo)]);
    const { asked, poked } = plan([totals(...seats), totals([ben])], told);
    expect(asked.map(([mode, ...who]) => [mode, who.length])).toEqual([['net', afforded.compare]]);
    expect(poked).toEqual(['ben']);
  });
});

it('asks about so many views, and pokes who sees others', () => {
  const views = [...Array.from({ length: mostQuestions }, () => todos([ann])), todos([ben])];
  const { asked, poked } = plan(views, batch([change(todo)]));
  expect(asked).toHaveLength(mostQuestions);
  expect(poked).toEqual(['ben']);
});

describe('a mutation', () => {
  const told = (group: string, user: string) => batch([change(todo)], { mutations: 1, groups: [[group, user]] });

  it('is told to its group without asking', () => {
    expect(plan([todos([ann], [ben])], told('group of ann', 'ann'))).toEqual({ poked: ['ann'], asked: [['net', ben]] });
  });

  it('is not told to somebody else who names the group', () => {
    expect(plan([], told('group of ann', 'ben')).poked).toEqual([]);
  });

  it('among too many is told to all', () => {
    expect(plan([todos([ann])], batch([change(todo)], { mutations: tailedRows }))).toEqual({
      poked: ['ann', 'ben'],
      asked: [],
    });
  });

  it('still asks for others with the same parameters', () => {
    expect(plan([todos([ann, ben])], told('group of ann', 'ann')).asked).toEqual([['net', ann, ben]]);
  });
});
