import { describe, expect, it } from 'vitest';
import { type CookieFields, openCookie, sealCookie } from '../protocol/cookie.js';
import type { History } from '../protocol/history.js';
import { parseSnapshot, standbySnapshot } from '../protocol/snapshot.js';
import type { ObservedState } from '../store/polls/observation.js';
import type { SchemaChange } from '../store/row-formats/schema-change.js';
import {
  type AnswerPlan,
  type CurrentState,
  covers,
  isRenewalDue,
  type Plan,
  planPull,
  tablesWithNewSchema,
} from './plan.js';

const parse = (text: string) => parseSnapshot(text)!;

const state: ObservedState = {
  snapshot: parse('100:110:105'),
  visibleSnapshot: parse('100:110:105'),
  nextXid: 112n,
  recovery: false,
  serverStart: '1',
  installID: 'install',
  database: '5',
  history: { timelines: [{ id: 'one', since: null }], current: 'one', lsn: 2000n },
  heartbeat: 'tick',
  diverged: false,
  horizon: 50n,
  aging: 55n,
  owner: 'ada',
  clientKnown: true,
  lastMutationIDs: null,
  mutations: 7,
  changeCounts: [],
  truncated: false,
};
const fields: CookieFields = {
  order: 1,
  snapshot: '60:70:61',
  next: '72',
  databaseID: 'database',
  views: 'views',
  clientGroupID: 'group',
  mutations: 7,
  heartbeat: 'tick',
  consistencyCheck: null,
  walPosition: 'one/1000',
  schemaHashes: '2:a.5:b',
};
const cookieWith = (more: Partial<CookieFields>) =>
  openCookie(sealCookie({ ...fields, ...more }, ['secret']), ['secret'])!;
const cookie = cookieWith({});

/** By default, the visible snapshot equals `snapshot`, as if no transaction had been rolled back recently. */
const stateWith = (more: Partial<ObservedState>): ObservedState => ({
  ...state,
  ...(more.snapshot && { visibleSnapshot: more.snapshot }),
  ...more,
});

const current = { clientGroupID: 'group', databaseID: 'database', views: 'views' };
const unchanged: Plan = { kind: 'unchanged' };
const behind: Plan = { kind: 'behind' };
const lost: Plan = { kind: 'lost' };
const delta = (...tables: number[]): Plan => ({ kind: 'delta', tables });
const reset = (reason: (Plan & { kind: 'reset' })['reason']): Plan => ({ kind: 'reset', reason });

describe('planPull', () => {
  it.each<[string, Partial<ObservedState>, Partial<CurrentState>, Plan]>([
    ['returns unchanged if nothing has changed', {}, {}, unchanged],
    ['returns a delta if a table has changed', { changeCounts: [[3, 1]] }, {}, delta(3)],
    [
      'returns a delta of two tables if both have changed',
      {
        changeCounts: [
          [3, 1],
          [4, 1000],
        ],
      },
      {},
      delta(3, 4),
    ],
    ['returns a delta without tables if a mutation ID has changed', { lastMutationIDs: { c: 2 } }, {}, delta()],
    [
      'returns a delta if a mutation ID and a table have changed',
      { lastMutationIDs: { c: 2 }, changeCounts: [[3, 1]] },
      {},
      delta(3),
    ],
    ['resets if the views have changed, or belong to another user', {}, { views: 'other' }, reset('views')],
    ['resets if the database has another ID', {}, { databaseID: 'other' }, reset('database')],
    ['resets if the database is behind the cookie', { snapshot: parse('60:69:'), nextXid: 71n }, {}, reset('future')],
    [
      'returns behind if a standby is behind the cookie',
      { snapshot: parse('60:69:'), nextXid: 71n, recovery: true },
      {},
      behind,
    ],
    [
      'resets on a standby of another database',
      { snapshot: parse('60:69:'), recovery: true },
      { databaseID: 'other' },
      reset('database'),
    ],
    [
      'returns unchanged if the database has the snapshot of the cookie',
      { snapshot: parse('60:70:61') },
      {},
      unchanged,
    ],
    [
      'returns unchanged if a crash could undo a part of the visible snapshot',
      { snapshot: parse('60:68:61'), visibleSnapshot: parse('60:70:61') },
      {},
      unchanged,
    ],
    [
      'returns behind if transactions of the cookie are not visible yet',
      { visibleSnapshot: parse('60:70:61,69') },
      {},
      behind,
    ],
    ['resets if the history has diverged', { diverged: true, changeCounts: [[3, 1]] }, {}, reset('database')],
    [
      'resets because of the horizon if the heartbeat was deleted with the change log',
      { diverged: true, horizon: 61n },
      {},
      reset('horizon'),
    ],
    ['resets on a standby whose history has diverged', { diverged: true, recovery: true }, {}, reset('database')],
    [
      'resets on a diverged standby that has all transactions below the xmin of the base',
      { diverged: true, recovery: true, snapshot: parse('60:110:60,61') },
      {},
      reset('database'),
    ],
    [
      'returns behind on a diverged standby that may only lag',
      { diverged: true, recovery: true, snapshot: parse('59:110:60,61,70'), changeCounts: [[3, 1]] },
      {},
      behind,
    ],
    ['resets if the horizon is above the cookie', { horizon: 61n }, {}, reset('horizon')],
    ['returns unchanged if the horizon is at the cookie', { horizon: 60n }, {}, unchanged],
    ['resets if a table was truncated', { truncated: true, changeCounts: [[3, 1]] }, {}, reset('truncate')],
    [
      'resets because of the views if there are several reasons',
      { truncated: true },
      { views: 'other', databaseID: 'other' },
      reset('views'),
    ],
    ['returns an empty delta if the cookie has aged', { aging: 61n }, {}, delta()],
    ['returns unchanged if the cookie is about to age', { aging: 60n }, {}, unchanged],
    ['returns unchanged if there are more mutations than in the cookie', { mutations: 8 }, {}, unchanged],
    ['returns lost if there are fewer mutations than in the cookie', { mutations: 6 }, {}, lost],
    ['returns lost if a restored database has fewer mutations', { mutations: 6 }, { databaseID: 'other' }, lost],
    [
      'returns lost if a database behind the cookie has fewer mutations',
      { mutations: 6, snapshot: parse('60:69:') },
      { databaseID: 'other' },
      lost,
    ],
    ['returns unchanged if another group has fewer mutations', { mutations: 6 }, { clientGroupID: 'other' }, unchanged],
    [
      'returns behind if a standby behind the cookie has fewer mutations',
      { mutations: 6, snapshot: parse('60:69:'), recovery: true },
      {},
      behind,
    ],
    [
      'returns behind if a standby with other views has fewer mutations',
      { mutations: 6, recovery: true },
      { views: 'other' },
      behind,
    ],
  ])('%s', (_, change, other, plan) => {
    expect(planPull(cookie, { state: stateWith(change), ...current, ...other })).toEqual(plan);
  });

  const readable = { transitions: [], relations: [], addedPartitions: [], attachedPartitions: [] };
  const attached = { ...readable, addedPartitions: [7], attachedPartitions: [7] };

  it.each<[string, [number, SchemaChange | 'unknown' | 'lost'][], Partial<ObservedState>, Plan]>([
    ['returns unchanged if no table was altered', [], {}, unchanged],
    ['returns an empty delta if the altered table has no new log rows', [[5, 'unknown']], {}, delta()],
    ['returns a delta if only another table has new log rows', [[5, 'unknown']], { changeCounts: [[2, 1]] }, delta(2)],
    [
      'returns a delta if the altered table has new log rows in known formats',
      [[5, readable]],
      { changeCounts: [[5, 1]] },
      delta(5),
    ],
    [
      'resets if the altered table has new log rows in an unknown format',
      [[5, 'unknown']],
      { changeCounts: [[5, 1]] },
      reset('views'),
    ],
    [
      'resets if one of several altered tables has new log rows in an unknown format',
      [
        [2, 'unknown'],
        [5, readable],
      ],
      { changeCounts: [[2, 1]] },
      reset('views'),
    ],
    ['returns a delta if the altered table has rows that were not logged', [[5, attached]], {}, delta(5)],
    ['resets if the altered table may have lost rows that were not logged', [[5, 'lost']], {}, reset('views')],
  ])('%s', (_, schemaChanges, change, plan) => {
    const currentState = { state: stateWith(change), ...current, schemaChanges: new Map(schemaChanges) };
    expect(planPull(cookie, currentState)).toEqual(plan);
  });

  it.each<[string, string, readonly number[]]>([
    ['the same schema hashes', '2:a.5:b', []],
    ['another schema hash', '2:a.5:c', [5]],
    ['other schema hashes', '2:c.5:d', [2, 5]],
    ['no schema hashes', '', [2, 5]],
  ])('compares the tables of a cookie with %s', (_, schemaHashes, tables) => {
    expect(tablesWithNewSchema({ schemaHashes }, '2:a.5:b')).toEqual(tables);
  });

  /** A standby's snapshot. Above xmin, it has seen only the given transactions, which left something in the log. */
  const standby = (xmin: number, xmax: number, ...seen: number[]) =>
    standbySnapshot(parse(`${xmin}:${xmax}:`), parse(`${xmin}:${xmin}:`), seen.map(BigInt));

  // The cookie has seen everything below 70 but 61. At that time, the next transaction ID was 72.
  it.each<[string, Partial<ObservedState>, Plan]>([
    [
      'returns a delta on a standby on which all transactions of the cookie have ended',
      { snapshot: standby(70, 71) },
      delta(3),
    ],
    ['returns behind on a standby that has not seen 69', { snapshot: standby(69, 72) }, behind],
    [
      'returns a delta on a standby that has seen 69 and even 61',
      { snapshot: standby(61, 71, 61, 62, 63, 64, 65, 66, 67, 68, 69) },
      delta(3),
    ],
    ['returns behind on a standby that has seen 71 but not 69', { snapshot: standby(60, 72, 71) }, behind],
    ['returns a delta on a standby on which the next transaction has ended', { snapshot: standby(60, 73) }, delta(3)],
  ])('%s', (_, change, plan) => {
    const changed = { recovery: true, changeCounts: [[3, 1]] } as const;
    expect(planPull(cookie, { state: stateWith({ ...changed, ...change }), ...current })).toEqual(plan);
  });

  // Above 60, it has seen only 65.
  const snapshot = standby(60, 80, 65);
  const standbyCookie = cookieWith({ snapshot: snapshot.text, next: '82' });
  it.each<[string, Partial<ObservedState>, Plan]>([
    ['returns a delta on the same standby', { snapshot, recovery: true }, delta(3)],
    [
      'returns behind on a standby that has seen 65 but not all below 60',
      { snapshot: standby(55, 80, 57, 58, 59, 65, 66), recovery: true },
      behind,
    ],
    [
      'returns a delta on a standby that has seen all below 60 and 65',
      { snapshot: standby(60, 80, 65, 66), recovery: true },
      delta(3),
    ],
    ['returns behind on a standby that has not seen 65', { snapshot: standby(60, 80, 66), recovery: true }, behind],
    ['returns a delta on the primary after 65 has ended', { snapshot: parse('60:82:60,66') }, delta(3)],
    ['returns behind on the primary while 65 is ending', { snapshot: parse('60:90:60,65') }, behind],
    ['returns behind on the primary if nothing from 65 on has ended', { snapshot: parse('60:65:60') }, behind],
    [
      'returns behind on the primary while 65 and its mutation are ending',
      { snapshot: parse('60:82:60,65'), mutations: 6 },
      behind,
    ],
    [
      'resets on a primary that has not reached the cookie',
      { snapshot: parse('60:65:60'), nextXid: 81n },
      reset('future'),
    ],
    [
      'returns lost on a primary that has not reached the cookie or its mutations',
      { snapshot: parse('60:65:60'), nextXid: 81n, mutations: 6 },
      lost,
    ],
  ])("for a standby's cookie %s", (_, change, plan) => {
    const changed = [[3, 1]] as const;
    expect(planPull(standbyCookie, { state: stateWith({ changeCounts: changed, ...change }), ...current })).toEqual(
      plan,
    );
  });

  describe('with a WAL position', () => {
    const withoutTimelines: History = { timelines: [], current: null, lsn: 2000n };
    const history: History = {
      timelines: [
        { id: 'old', since: null },
        { id: 'new', since: 1000n },
      ],
      current: 'new',
      lsn: 2000n,
    };
    const at = (position: string) => cookieWith({ walPosition: position });
    // A promoted standby assigns the IDs of unused transactions again.
    const reused: Partial<ObservedState> = { snapshot: parse('70:71:70'), nextXid: 71n };

    it.each<[string, string, Partial<ObservedState>, Plan]>([
      ['returns unchanged on the timeline of the cookie', 'new/1500', {}, unchanged],
      [
        'resets behind the cookie on its timeline',
        'new/1500',
        { snapshot: parse('60:69:'), nextXid: 71n },
        reset('future'),
      ],
      ['returns unchanged after a promotion that kept everything', 'old/1000', {}, unchanged],
      ['returns a delta after a promotion and a change', 'old/1000', { changeCounts: [[3, 1]] }, delta(3)],
      ['resets after a promotion that lost something', 'old/1001', {}, reset('database')],
      ['returns lost after a promotion that lost mutations', 'old/1001', { mutations: 6 }, lost],
      ['returns unchanged after a promotion that reuses transaction IDs', 'old/1000', reused, unchanged],
      [
        'resets after a promotion that lost something and reuses transaction IDs',
        'old/1001',
        reused,
        reset('database'),
      ],
      [
        'returns behind after a promotion until everything is visible',
        'old/1000',
        { visibleSnapshot: parse('60:70:61,69') },
        behind,
      ],
      ['resets in another history', 'other/10', {}, reset('database')],
      ['resets without timelines', 'old/1000', { history: withoutTimelines }, reset('database')],
      ['resets in a diverged history', 'old/1000', { diverged: true }, reset('database')],
    ])('on a primary %s', (_, position, change, plan) => {
      expect(planPull(at(position), { state: stateWith({ history, ...change }), ...current })).toEqual(plan);
    });

    it.each<[string, string, Partial<ObservedState>, Plan]>([
      ['returns unchanged on the timeline of the cookie', 'new/1500', {}, unchanged],
      [
        'returns behind if it lags on the timeline of the cookie',
        'new/1500',
        { snapshot: parse('60:69:60'), nextXid: 70n },
        behind,
      ],
      ['returns unchanged after it has followed a promotion', 'old/1000', {}, unchanged],
      ['resets after it has followed a promotion that lost something', 'old/1001', {}, reset('database')],
      [
        'returns behind before it reaches the timeline of the cookie',
        'newer/3000',
        { snapshot: parse('69:80:69'), nextXid: 80n },
        behind,
      ],
      [
        'resets if it should have reached the timeline of the cookie',
        'newer/3000',
        { snapshot: parse('70:80:70'), nextXid: 80n },
        reset('database'),
      ],
      [
        'returns behind before it reaches the mutations',
        'newer/3000',
        { snapshot: parse('69:80:69'), mutations: 6 },
        behind,
      ],
      [
        'returns behind if it shows no timelines',
        'old/1000',
        { snapshot: parse('69:70:69'), history: withoutTimelines },
        behind,
      ],
    ])('on a standby %s', (_, position, change, plan) => {
      const state = stateWith({ history, recovery: true, ...change });
      expect(planPull(at(position), { state, ...current })).toEqual(plan);
    });

    it('resets in another database, whatever the position', () => {
      const state = stateWith({ history });
      expect(planPull(at('old/1000'), { state, ...current, databaseID: 'other' })).toEqual(reset('database'));
    });
  });

  it('compares transaction IDs of more than 53 bits', () => {
    const old = cookieWith({ snapshot: '9223372036854775805:9223372036854775806:', next: '9223372036854775806' });
    const at = (xmax: string) => ({
      state: stateWith({ snapshot: parse(`9223372036854775805:${xmax}:`), nextXid: BigInt(xmax) }),
      ...current,
    });
    expect(planPull(old, at('9223372036854775806'))).toEqual(unchanged);
    expect(planPull(old, at('9223372036854775805'))).toEqual(reset('future'));
  });
});

it.each<[number[], AnswerPlan, boolean]>([
  [[1, 2], delta(1, 2), true],
  [[1, 2], delta(2), true],
  [[1], delta(1, 2), false],
  [[1], delta(), true],
  [[1], unchanged, true],
  [[1], { kind: 'renew' }, true],
  [[1], behind, false],
  [[1], { kind: 'outdated' }, false],
  [[1], reset('truncate'), false],
])('a delta of the tables %j serves %j: %s', (tables, actual, expected) => {
  expect(covers(tables, actual)).toBe(expected);
});

it.each<[ObservedState['changeCounts'], boolean]>([
  [[], false],
  [[[1, 99]], false],
  [[[1, 100]], true],
  [
    [
      [1, 50],
      [2, 50],
    ],
    true,
  ],
])('unnecessary reads of the log rows %j make a new cookie due: %s', (changed, expected) => {
  expect(isRenewalDue(cookie, { ...state, changeCounts: changed })).toBe(expected);
});
