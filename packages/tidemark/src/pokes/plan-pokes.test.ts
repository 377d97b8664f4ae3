import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../protocol/snapshot.js';
import type { NewChanges, TableChange } from '../store/polls/new-changes.js';
import { maxMutations, maxRows } from '../store/polls/observation.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { Strategy } from '../view/compile/strategy.js';
import { continues, maxQuestions, type PlanInput, planPokes, quick, thorough, withMutations } from './plan-pokes.js';
import type { Subscriber, ViewSubscribers } from './subscription-index.js';

const todo = { oid: 16001, id: 1 };
const share = { oid: 16002, id: 2 };
const ids = new Map([todo, share].map(({ oid, id }) => [oid, id]));

const subscriber = (name: string): Subscriber => ({ clientGroupID: `group of ${name}`, userID: name }) as Subscriber;
const ann = subscriber('ann');
const ben = subscriber('ben');

const parametersOf = (cohort: number) => ({ literals: [`'${cohort}'`], texts: [`${cohort}`] });

/** Creates a view's subscribers, with a cohort for each group of them. */
function viewSubscribersOf(
  strategy: Strategy,
  tables: readonly { oid: number }[],
  ...cohorts: Subscriber[][]
): ViewSubscribers {
  return {
    view: { strategy, occurrenceTables: tables.map(({ oid }) => oid), cohortView: {} } as unknown as CompiledView,
    cohorts: new Map(
      cohorts.map((subscribers, i) => [`${i}`, { parameters: parametersOf(i), subscribers: new Set(subscribers) }]),
    ),
  };
}

const change = (table: { id: number }, more: Partial<TableChange> = {}): TableChange => ({
  table: table.id,
  rows: 1,
  xid: '700',
  truncated: false,
  ...more,
});

const newChanges = (changes: TableChange[], more: Partial<NewChanges> = {}): NewChanges => ({
  snapshot: parseSnapshot('701:701:')!,
  visibleSnapshot: parseSnapshot('701:701:')!,
  installID: 'a',
  horizon: 3n,
  changes,
  mutations: 0,
  groups: [],
  ...more,
});

/** Summarizes the plan: who is poked, who is queried in which mode, and whose views are postponed. */
function plan(viewSubscribers: ViewSubscribers[], changes: TableChange[], more: Partial<PlanInput> = {}) {
  const {
    subscribersToPoke: poked,
    questions,
    postponedViews: postponed,
  } = planPokes({
    viewSubscribers,
    alreadyPoked: new Set(),
    newChanges: newChanges(changes),
    ids,
    bounds: quick,
    alreadyPostponed: new Set(),
    ...more,
  });
  const names = (subscribers: readonly Subscriber[]) => subscribers.map(({ userID }) => userID);
  return {
    poked: names([...poked]),
    questions: questions.map(({ mode, cohorts }) => [mode, ...names(cohorts.flatMap((cohort) => cohort.subscribers))]),
    postponed: postponed.map(({ subscribers }) => names(subscribers)),
  };
}

const nothing = { poked: [], questions: [], postponed: [] };
const todos = (...cohorts: Subscriber[][]) => viewSubscribersOf('incremental', [todo, share], ...cohorts);
const totals = (...cohorts: Subscriber[][]) => viewSubscribersOf('compare', [todo], ...cohorts);

describe('a change', () => {
  it('does not affect views that do not read its table', () => {
    expect(plan([viewSubscribersOf('incremental', [share], [ann])], [change(todo)])).toEqual(nothing);
  });

  it('is queried for all cohorts of a view together', () => {
    expect(plan([todos([ann], [ben])], [change(todo)])).toEqual({ ...nothing, questions: [['net', 'ann', 'ben']] });
  });

  it('is not queried for subscribers that are already poked', () => {
    const alreadyPoked = { alreadyPoked: new Set([ann]) };
    expect(plan([todos([ann], [ben])], [change(todo)], alreadyPoked)).toEqual({
      ...nothing,
      questions: [['net', 'ben']],
    });
    expect(plan([todos([ann, ben])], [change(todo)], alreadyPoked)).toEqual({
      ...nothing,
      questions: [['net', 'ben']],
    });
    expect(plan([todos([ann])], [change(todo)], alreadyPoked)).toEqual(nothing);
    expect(plan([todos([ann])], [change(todo, { truncated: true })], alreadyPoked)).toEqual(nothing);
  });

  it('has no cost for subscribers that are already poked', () => {
    const changes = [change(todo, { rows: quick.net / 2 })];
    const alreadyPoked = { alreadyPoked: new Set([ann]) };
    expect(plan([todos([ann], [ann], [ben])], changes, alreadyPoked).questions).toEqual([['net', 'ben']]);
  });

  it('of one transaction in several tables is queried by its net effect', () => {
    expect(plan([todos([ann])], [change(todo), change(share)]).questions).toEqual([['net', 'ann']]);
  });

  it.each([
    ['in one table', [change(todo, { xid: null })]],
    ['in two tables', [change(todo), change(share, { xid: '699' })]],
  ])('of several transactions %s is queried by any version of its rows', (_, changes) => {
    expect(plan([todos([ann])], changes).questions).toEqual([['anyVersion', 'ann']]);
  });

  it.each(['keyed', 'compare'] as const)(
    'of several transactions is queried by any version of its rows for a %s view',
    (strategy) => {
      const changes = [change(todo, { xid: null })];
      expect(plan([viewSubscribersOf(strategy, [todo], [ann])], changes)).toEqual({
        ...nothing,
        questions: [['anyVersion', 'ann']],
      });
    },
  );

  it('is queried by any version of its rows if the view cannot be read for several cohorts', () => {
    const alone = viewSubscribersOf('compare', [todo], [ann]);
    const view = { ...alone.view, cohortView: undefined };
    expect(plan([{ ...alone, view }], [change(todo)]).questions).toEqual([['anyVersion', 'ann']]);
  });

  it('is queried by its net effect if other transactions wrote only to tables outside the view', () => {
    expect(plan([totals([ann])], [change(todo), change(share, { xid: '699' })]).questions).toEqual([['net', 'ann']]);
  });

  it('by TRUNCATE pokes all subscribers to views of the table', () => {
    for (const bounds of [quick, thorough]) {
      const changes = [change(todo, { truncated: true })];
      expect(plan([todos([ann])], changes, { bounds })).toEqual({ ...nothing, poked: ['ann'] });
      expect(plan([todos([ann])], [...changes, change(share)], { bounds })).toEqual({ ...nothing, poked: ['ann'] });
    }
  });
});

describe('a change that is expensive to query', () => {
  const many = (count: number) => Array.from({ length: count }, () => [ann]);
  const questions = (mode: string, cohorts: number) => ({
    ...nothing,
    questions: [[mode, ...Array(cohorts).fill('ann')]],
  });
  const postponed = (cohorts: number) => ({ ...nothing, postponed: [Array(cohorts).fill('ann')] });

  it.each([
    ['is queried by its net effect if it is one cheap transaction', 10, { rows: quick.net / 10 }, questions('net', 10)],
    [
      'is queried by any version if its net effect is too expensive',
      10,
      { rows: quick.net / 10 + 1 },
      questions('anyVersion', 10),
    ],
    [
      'is postponed if one transaction is too expensive either way',
      10,
      { rows: quick.anyVersion / 10 + 1 },
      postponed(10),
    ],
    [
      'is queried by any version if several transactions are cheap enough',
      10,
      { rows: quick.anyVersion / 10, xid: null },
      questions('anyVersion', 10),
    ],
    [
      'is postponed if several transactions are too expensive',
      10,
      { rows: quick.anyVersion / 10 + 1, xid: null },
      postponed(10),
    ],
    [
      'is queried for one cohort up to the limit of rows',
      1,
      { rows: quick.rows, xid: null },
      questions('anyVersion', 1),
    ],
    ['is postponed for one cohort above the limit of rows', 1, { rows: quick.rows + 1, xid: null }, postponed(1)],
    ['is postponed if it has more rows than are counted', 1, { rows: maxRows, xid: null }, postponed(1)],
    [
      'is postponed up to the limit of postponed queries',
      1000,
      { rows: thorough.anyVersion / 1000, xid: null },
      postponed(1000),
    ],
    [
      'pokes all subscribers above the limit of postponed queries',
      1000,
      { rows: thorough.anyVersion / 1000 + 1, xid: null },
      { ...nothing, poked: ['ann'] },
    ],
  ])('%s', (_, cohorts, more, expected) => {
    expect(plan([todos(...many(cohorts))], [change(todo, more)])).toEqual(expected);
  });

  it('is queried within the larger bounds of postponed queries', () => {
    const changes = [change(todo, { rows: 9_000, xid: null })];
    expect(plan([todos(...many(100))], changes)).toEqual(postponed(100));
    expect(plan([todos(...many(100))], changes, { bounds: thorough })).toEqual(questions('anyVersion', 100));
  });

  it('is queried by any version if too many whole views would have to be read', () => {
    const views = [totals(...many(quick.compare)), totals([ben])];
    expect(plan(views, [change(todo)]).questions).toEqual([
      ['anyVersion', 'ben'],
      ['net', ...Array(quick.compare).fill('ann')],
    ]);
  });

  it('does not prevent queries for other views', () => {
    const views = [todos(...many(10)), todos([ben]), todos(...many(1000))];
    const changes = [change(todo, { rows: quick.net / 10 })];
    expect(plan(views, changes).questions.slice(0, 2)).toEqual([
      ['anyVersion', 'ben'],
      ['net', ...Array(10).fill('ann')],
    ]);
  });

  it('is queried after cheaper ones', () => {
    const views = [totals(...many(5)), todos([ben])];
    expect(plan(views, [change(todo)]).questions.map(([, who]) => who)).toEqual(['ben', 'ann']);
  });

  it('is postponed while an earlier one of the same view is', () => {
    const pending = todos([ann]);
    const alreadyPostponed = new Set([pending.view]);
    expect(plan([pending, todos([ben])], [change(todo)], { alreadyPostponed })).toEqual({
      ...nothing,
      questions: [['net', 'ben']],
      postponed: [['ann']],
    });
    expect(plan([pending], [change(todo, { truncated: true })], { alreadyPostponed }).poked).toEqual(['ann']);
  });
});

it('a plan has a maximum number of questions, and pokes the subscribers to further views', () => {
  const views = [...Array.from({ length: maxQuestions }, () => todos([ann])), todos([ben])];
  const { questions, poked } = plan(views, [change(todo)]);
  expect(questions).toHaveLength(maxQuestions);
  expect(poked).toEqual(['ben']);
});

describe('a mutation', () => {
  const allSubscribers = new Set([ann, ben]);
  const subscribersOf = (more: Partial<NewChanges>) => [...withMutations(allSubscribers, newChanges([], more))];

  it('pokes its client group', () => {
    expect(subscribersOf({ mutations: 1, groups: [['group of ann', 'ann']] })).toEqual([ann]);
  });

  it('pokes subscribers to all groups of the user', () => {
    const all = (userID: string) => ({ userID, clientGroupID: undefined }) as Subscriber;
    const [ofAnn, ofBen] = [all('ann'), all('ben')];
    const changes = newChanges([], { mutations: 1, groups: [['group of ann', 'ann']] });
    expect([...withMutations(new Set([ofAnn, ofBen, ben]), changes)]).toEqual([ofAnn]);
  });

  it('does not poke another user who names the group', () => {
    expect(subscribersOf({ mutations: 1, groups: [['group of ann', 'ben']] })).toEqual([]);
  });

  it('pokes all subscribers if there are too many mutations', () => {
    expect(subscribersOf({ mutations: maxMutations, groups: [['group of ann', 'ann']] })).toEqual([ann, ben]);
  });
});

describe('the change log', () => {
  it.each([
    ['continues an older base', '690:700:695', {}, true],
    ['continues a base at its end', '701:701:', {}, true],
    ['does not continue a base that it has not reached', '701:702:', {}, false],
    ['does not continue a base with another install ID', '700:701:', { installID: 'b' }, false],
    ['continues a base at its horizon', '701:701:', { horizon: 701n }, true],
    ['does not continue a base below its horizon', '701:701:', { horizon: 702n }, false],
  ])('%s', (_, base, more, expected) => {
    expect(
      continues(parseSnapshot(base)!, 'a', newChanges([], { visibleSnapshot: parseSnapshot('700:701:')!, ...more })),
    ).toBe(expected);
  });
});
