import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../protocol/snapshot.js';
import { mostMutations, mostRows } from '../store/header.js';
import type { TailBatch, TailChange } from '../store/tail.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { Strategy } from '../view/compile/strategy.js';
import type { Audience, Listener } from './audiences.js';
import { continues, mostQuestions, type PlanInput, planPokes, quick, thorough, withMutations } from './plan-pokes.js';

const todo = { oid: 16001, id: 1 };
const share = { oid: 16002, id: 2 };
const ids = new Map([todo, share].map(({ oid, id }) => [oid, id]));

const listener = (name: string): Listener => ({ clientGroupID: `group of ${name}`, userID: name }) as Listener;
const ann = listener('ann');
const ben = listener('ben');

const parametersOf = (seat: number) => ({ literals: [`'${seat}'`], texts: [`${seat}`] });

/** An audience with a seat for each group of listeners. */
function audience(strategy: Strategy, tables: readonly { oid: number }[], ...seats: Listener[][]): Audience {
  return {
    view: { strategy, occurrenceTables: tables.map(({ oid }) => oid), seated: {} } as unknown as CompiledView,
    seats: new Map(
      seats.map((listeners, i) => [`${i}`, { parameters: parametersOf(i), listeners: new Set(listeners) }]),
    ),
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
  shown: parseSnapshot('701:701:')!,
  installID: 'a',
  horizon: 3n,
  changes,
  mutations: 0,
  groups: [],
  ...more,
});

/** The plan in words: who is poked, who is asked about in which mode, and who is asked about later. */
function plan(audiences: Audience[], changes: TailChange[], more: Partial<PlanInput> = {}) {
  const { poked, questions, postponed } = planPokes({
    audiences,
    told: new Set(),
    batch: batch(changes),
    ids,
    bounds: quick,
    isPostponed: () => false,
    ...more,
  });
  const names = (listeners: readonly Listener[]) => listeners.map(({ userID }) => userID);
  return {
    poked: names([...poked]),
    asked: questions.map(({ mode, seats }) => [mode, ...names(seats.flatMap((seat) => seat.listeners))]),
    later: postponed.map(({ listeners }) => names(listeners)),
  };
}

const nothing = { poked: [], asked: [], later: [] };
const todos = (...seats: Listener[][]) => audience('incremental', [todo, share], ...seats);
const totals = (...seats: Listener[][]) => audience('compare', [todo], ...seats);

describe('a change', () => {
  it('is no matter of views that do not read its table', () => {
    expect(plan([audience('incremental', [share], [ann])], [change(todo)])).toEqual(nothing);
  });

  it('is asked about seat by seat', () => {
    expect(plan([todos([ann], [ben])], [change(todo)])).toEqual({ ...nothing, asked: [['net', 'ann', 'ben']] });
  });

  it('is not asked about for those who are poked anyhow', () => {
    const told = { told: new Set([ann]) };
    expect(plan([todos([ann], [ben])], [change(todo)], told)).toEqual({ ...nothing, asked: [['net', 'ben']] });
    expect(plan([todos([ann, ben])], [change(todo)], told)).toEqual({ ...nothing, asked: [['net', 'ben']] });
    expect(plan([todos([ann])], [change(todo)], told)).toEqual(nothing);
    expect(plan([todos([ann])], [change(todo, { truncated: true })], told)).toEqual(nothing);
  });

  it('costs nothing for those who are poked anyhow', () => {
    const changes = [change(todo, { rows: quick.net / 2 })];
    const told = { told: new Set([ann]) };
    expect(plan([todos([ann], [ann], [ben])], changes, told).asked).toEqual([['net', 'ben']]);
  });

  it('of one transaction in several tables is judged by its outcome', () => {
    expect(plan([todos([ann])], [change(todo), change(share)]).asked).toEqual([['net', 'ann']]);
  });

  it.each([
    ['in one table', [change(todo, { xid: null })]],
    ['in two tables', [change(todo), change(share, { xid: '699' })]],
  ])('of several transactions %s is judged by what they touched', (_, changes) => {
    expect(plan([todos([ann])], changes).asked).toEqual([['ever', 'ann']]);
  });

  it.each(['keyed', 'compare'] as const)(
    'of several transactions is judged by what they touched for a %s view, too',
    (strategy) => {
      const changes = [change(todo, { xid: null })];
      expect(plan([audience(strategy, [todo], [ann])], changes)).toEqual({ ...nothing, asked: [['ever', 'ann']] });
    },
  );

  it('is judged by what it touched if the view cannot be read for several seats', () => {
    const alone = audience('compare', [todo], [ann]);
    const view = { ...alone.view, seated: undefined };
    expect(plan([{ ...alone, view }], [change(todo)]).asked).toEqual([['ever', 'ann']]);
  });

  it('of another transaction in a table that the view does not read is no matter', () => {
    expect(plan([totals([ann])], [change(todo), change(share, { xid: '699' })]).asked).toEqual([['net', 'ann']]);
  });

  it('by TRUNCATE pokes all who see the table', () => {
    for (const bounds of [quick, thorough]) {
      const changes = [change(todo, { truncated: true })];
      expect(plan([todos([ann])], changes, { bounds })).toEqual({ ...nothing, poked: ['ann'] });
      expect(plan([todos([ann])], [...changes, change(share)], { bounds })).toEqual({ ...nothing, poked: ['ann'] });
    }
  });
});

describe('a change that takes long to ask about', () => {
  const many = (count: number) => Array.from({ length: count }, () => [ann]);
  const asked = (mode: string, seats: number) => ({ ...nothing, asked: [[mode, ...Array(seats).fill('ann')]] });
  const later = (seats: number) => ({ ...nothing, later: [Array(seats).fill('ann')] });

  it.each([
    ['one transaction, quick', 10, { rows: quick.net / 10 }, asked('net', 10)],
    ['one transaction, less exactly', 10, { rows: quick.net / 10 + 1 }, asked('ever', 10)],
    ['one transaction, postponed', 10, { rows: quick.ever / 10 + 1 }, later(10)],
    ['several, quick', 10, { rows: quick.ever / 10, xid: null }, asked('ever', 10)],
    ['several, postponed', 10, { rows: quick.ever / 10 + 1, xid: null }, later(10)],
    ['one seat, quick', 1, { rows: quick.rows, xid: null }, asked('ever', 1)],
    ['one seat, postponed', 1, { rows: quick.rows + 1, xid: null }, later(1)],
    ['more rows than are counted', 1, { rows: mostRows, xid: null }, later(1)],
    ['several, all that is afforded', 1000, { rows: thorough.ever / 1000, xid: null }, later(1000)],
    ['several, too much at all', 1000, { rows: thorough.ever / 1000 + 1, xid: null }, { ...nothing, poked: ['ann'] }],
  ])('%s', (_, seats, more, expected) => {
    expect(plan([todos(...many(seats))], [change(todo, more)])).toEqual(expected);
  });

  it('is asked about by itself within other bounds', () => {
    const changes = [change(todo, { rows: 9_000, xid: null })];
    expect(plan([todos(...many(100))], changes)).toEqual(later(100));
    expect(plan([todos(...many(100))], changes, { bounds: thorough })).toEqual(asked('ever', 100));
  });

  it('is asked about less exactly if whole views would have to be read', () => {
    const views = [totals(...many(quick.compare)), totals([ben])];
    expect(plan(views, [change(todo)]).asked).toEqual([
      ['ever', 'ben'],
      ['net', ...Array(quick.compare).fill('ann')],
    ]);
  });

  it('holds up no other', () => {
    const views = [todos(...many(10)), todos([ben]), todos(...many(1000))];
    const changes = [change(todo, { rows: quick.net / 10 })];
    expect(plan(views, changes).asked.slice(0, 2)).toEqual([
      ['ever', 'ben'],
      ['net', ...Array(10).fill('ann')],
    ]);
  });

  it('is asked about after those that take less', () => {
    const views = [totals(...many(5)), todos([ben])];
    expect(plan(views, [change(todo)]).asked.map(([, who]) => who)).toEqual(['ben', 'ann']);
  });

  it('is postponed as long as an earlier one is', () => {
    const waiting = todos([ann]);
    const isPostponed = (view: CompiledView) => view === waiting.view;
    expect(plan([waiting, todos([ben])], [change(todo)], { isPostponed })).toEqual({
      ...nothing,
      asked: [['net', 'ben']],
      later: [['ann']],
    });
    expect(plan([waiting], [change(todo, { truncated: true })], { isPostponed }).poked).toEqual(['ann']);
  });
});

it('asks about so many views, and pokes who sees others', () => {
  const views = [...Array.from({ length: mostQuestions }, () => todos([ann])), todos([ben])];
  const { asked, poked } = plan(views, [change(todo)]);
  expect(asked).toHaveLength(mostQuestions);
  expect(poked).toEqual(['ben']);
});

describe('a mutation', () => {
  const everybody = new Set([ann, ben]);
  const told = (more: Partial<TailBatch>) => [...withMutations(everybody, batch([], more))];

  it('is told to its group', () => {
    expect(told({ mutations: 1, groups: [['group of ann', 'ann']] })).toEqual([ann]);
  });

  it('is told to whoever listens for all groups of the user', () => {
    const all = (userID: string) => ({ userID, clientGroupID: undefined }) as Listener;
    const [ofAnn, ofBen] = [all('ann'), all('ben')];
    const batched = batch([], { mutations: 1, groups: [['group of ann', 'ann']] });
    expect([...withMutations(new Set([ofAnn, ofBen, ben]), batched)]).toEqual([ofAnn]);
  });

  it('is not told to somebody else who names the group', () => {
    expect(told({ mutations: 1, groups: [['group of ann', 'ben']] })).toEqual([]);
  });

  it('among too many is told to all', () => {
    expect(told({ mutations: mostMutations, groups: [['group of ann', 'ann']] })).toEqual([ann, ben]);
  });
});

describe('the change log', () => {
  it.each([
    ['goes on', '690:700:695', {}, true],
    ['ends with the base', '701:701:', {}, true],
    ['is of another history, which is not as far', '701:702:', {}, false],
    ['is of another installation', '700:701:', { installID: 'b' }, false],
    ['is kept back to the base', '701:701:', { horizon: 701n }, true],
    ['has been forgotten in part', '701:701:', { horizon: 702n }, false],
  ])('%s', (_, base, more, expected) => {
    expect(continues(parseSnapshot(base)!, 'a', batch([], { shown: parseSnapshot('700:701:')!, ...more }))).toBe(
      expected,
    );
  });
});
