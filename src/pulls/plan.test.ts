import { describe, expect, it } from 'vitest';
import { type CookieFields, openCookie, sealCookie } from '../protocol/cookie.js';
import type { History } from '../protocol/history.js';
import { parseSnapshot, standbySnapshot } from '../protocol/snapshot.js';
import type { Header } from '../store/header.js';
import type { Alteration } from '../store/layouts/alteration.js';
import { alteredTables, covers, isRenewalDue, type Plan, type Present, planPull } from './plan.js';

const parse = (text: string) => parseSnapshot(text)!;

const header: Header = {
  snapshot: parse('100:110:105'),
  shown: parse('100:110:105'),
  next: 112n,
  recovery: false,
  started: '1',
  installID: 'install',
  database: '5',
  history: { timelines: [{ id: 'one', since: null }], current: 'one', lsn: 2000n },
  tick: 'tick',
  diverged: false,
  horizon: 50n,
  aging: 55n,
  owner: 'ada',
  clientKnown: true,
  lastMutationIDs: null,
  mutations: 7,
  changed: [],
  truncated: false,
};
const fields: CookieFields = {
  order: 1,
  snapshot: '60:70:61',
  next: '72',
  epoch: 'epoch',
  views: 'views',
  clientGroupID: 'group',
  mutations: 7,
  tick: 'tick',
  audit: null,
  position: 'one/1000',
  shapes: '2:a.5:b',
};
const cookieWith = (more: Partial<CookieFields>) =>
  openCookie(sealCookie({ ...fields, ...more }, ['secret']), ['secret'])!;
const cookie = cookieWith({});

/** Where nothing has been rolled back lately, what is shown is what is kept. */
const headerWith = (more: Partial<Header>): Header => ({
  ...header,
  ...(more.snapshot && { shown: more.snapshot }),
  ...more,
});

const present = { clientGroupID: 'group', epoch: 'epoch', views: 'views' };
const unchanged: Plan = { kind: 'unchanged' };
const behind: Plan = { kind: 'behind' };
const lost: Plan = { kind: 'lost' };
const delta = (...tables: number[]): Plan => ({ kind: 'delta', tables });
const reset = (reason: (Plan & { kind: 'reset' })['reason']): Plan => ({ kind: 'reset', reason });

describe('planPull', () => {
  it.each<[string, Partial<Header>, Partial<Present>, Plan]>([
    ['nothing has changed', {}, {}, unchanged],
    ['a table has changed', { changed: [[3, 1]] }, {}, delta(3)],
    [
      'two tables have changed',
      {
        changed: [
          [3, 1],
          [4, 1000],
        ],
      },
      {},
      delta(3, 4),
    ],
    ['a mutation ID has moved', { lastMutationIDs: { c: 2 } }, {}, delta()],
    ['both', { lastMutationIDs: { c: 2 }, changed: [[3, 1]] }, {}, delta(3)],
    ['other views, or another user’s', {}, { views: 'other' }, reset('views')],
    ['another epoch', {}, { epoch: 'other' }, reset('epoch')],
    ['a database behind the cookie', { snapshot: parse('60:69:'), next: 71n }, {}, reset('future')],
    ['a standby behind the cookie', { snapshot: parse('60:69:'), next: 71n, recovery: true }, {}, behind],
    ['a standby of another epoch', { snapshot: parse('60:69:'), recovery: true }, { epoch: 'other' }, reset('epoch')],
    ['a database just as far', { snapshot: parse('60:70:61') }, {}, unchanged],
    ['one that keeps less of it', { snapshot: parse('60:68:61'), shown: parse('60:70:61') }, {}, unchanged],
    ['one that would keep it, but does not show it', { shown: parse('60:70:61,69') }, {}, behind],
    ['a history that went another way', { diverged: true, changed: [[3, 1]] }, {}, reset('epoch')],
    ['a tick forgotten with the log', { diverged: true, horizon: 61n }, {}, reset('horizon')],
    ['a standby of such a history', { diverged: true, recovery: true }, {}, reset('epoch')],
    [
      'one that has all that the base had below its xmin',
      { diverged: true, recovery: true, snapshot: parse('60:110:60,61') },
      {},
      reset('epoch'),
    ],
    [
      'a standby that may only be behind',
      { diverged: true, recovery: true, snapshot: parse('59:110:60,61,70'), changed: [[3, 1]] },
      {},
      behind,
    ],
    ['a horizon above the cookie', { horizon: 61n }, {}, reset('horizon')],
    ['a horizon at the cookie', { horizon: 60n }, {}, unchanged],
    ['a truncated table', { truncated: true, changed: [[3, 1]] }, {}, reset('truncate')],
    ['several reasons: the views come first', { truncated: true }, { views: 'other', epoch: 'other' }, reset('views')],
    ['a cookie that has aged', { aging: 61n }, {}, delta()],
    ['a cookie that is about to age', { aging: 60n }, {}, unchanged],
    ['more mutations than the cookie tells of', { mutations: 8 }, {}, unchanged],
    ['fewer mutations than the group was told of', { mutations: 6 }, {}, lost],
    ['fewer, in a restored database', { mutations: 6 }, { epoch: 'other' }, lost],
    ['fewer, in one that is not as far', { mutations: 6, snapshot: parse('60:69:') }, { epoch: 'other' }, lost],
    ['fewer, of another group', { mutations: 6 }, { clientGroupID: 'other' }, unchanged],
    ['fewer, on a standby that is behind', { mutations: 6, snapshot: parse('60:69:'), recovery: true }, {}, behind],
    ['fewer, on a standby with other views', { mutations: 6, recovery: true }, { views: 'other' }, behind],
  ])('%s', (_, change, other, plan) => {
    expect(planPull(cookie, { header: headerWith(change), ...present, ...other })).toEqual(plan);
  });

  const readable = { transitions: [], members: [], added: [], attached: [] };
  const attached = { ...readable, added: [7], attached: [7] };

  it.each<[string, [number, Alteration | 'unknown' | 'lost'][], Partial<Header>, Plan]>([
    ['tables that nobody has altered', [], {}, unchanged],
    ['an altered table without new rows', [[5, 'unknown']], {}, delta()],
    ['an altered table without new rows, of two', [[5, 'unknown']], { changed: [[2, 1]] }, delta(2)],
    ['an altered table with new rows', [[5, readable]], { changed: [[5, 1]] }, delta(5)],
    ['one of which nobody knows the layout', [[5, 'unknown']], { changed: [[5, 1]] }, reset('views')],
    [
      'several altered tables',
      [
        [2, 'unknown'],
        [5, readable],
      ],
      { changed: [[2, 1]] },
      reset('views'),
    ],
    ['one with rows that were not logged', [[5, attached]], {}, delta(5)],
    ['one that may have lost rows that were not logged', [[5, 'lost']], {}, reset('views')],
  ])('%s', (_, altered, change, plan) => {
    const asked = { header: headerWith(change), ...present, altered: new Map(altered) };
    expect(planPull(cookie, asked)).toEqual(plan);
  });

  it.each<[string, string, readonly number[]]>([
    ['the same shapes', '2:a.5:b', []],
    ['another shape', '2:a.5:c', [5]],
    ['other shapes', '2:c.5:d', [2, 5]],
    ['no shapes', '', [2, 5]],
  ])('%s', (_, shapes, altered) => {
    expect(alteredTables({ shapes }, '2:a.5:b')).toEqual(altered);
  });

  /** A standby's snapshot, above xmin, of transactions that have left something in the log. */
  const standby = (xmin: number, xmax: number, ...seen: number[]) =>
    standbySnapshot(parse(`${xmin}:${xmax}:`), parse(`${xmin}:${xmin}:`), seen.map(BigInt));

  // The cookie has seen all below 70 but 61; when it was made, 72 was to come next.
  it.each<[string, Partial<Header>, Plan]>([
    ['a standby on which all of that has ended', { snapshot: standby(70, 71) }, delta(3)],
    ['one that does not know of 69', { snapshot: standby(69, 72) }, behind],
    ['one that does, and of 61', { snapshot: standby(61, 71, 61, 62, 63, 64, 65, 66, 67, 68, 69) }, delta(3)],
    ['one on which some began before the cookie and ended behind 69', { snapshot: standby(60, 72, 71) }, behind],
    ['one on which the next transaction has ended', { snapshot: standby(60, 73) }, delta(3)],
  ])('%s', (_, change, plan) => {
    const changed = { recovery: true, changed: [[3, 1]] } as const;
    expect(planPull(cookie, { header: headerWith({ ...changed, ...change }), ...present })).toEqual(plan);
  });

  // It has seen 65, and of those above 60 nothing else.
  const snapshot = standby(60, 80, 65);
  const ofStandby = cookieWith({ snapshot: snapshot.text, next: '82' });
  it.each<[string, Partial<Header>, Plan]>([
    ['the standby itself', { snapshot, recovery: true }, delta(3)],
    ['one that has seen 65 as well', { snapshot: standby(55, 80, 57, 58, 59, 65, 66), recovery: true }, behind],
    ['one that has seen all that', { snapshot: standby(60, 80, 65, 66), recovery: true }, delta(3)],
    ['one that has not', { snapshot: standby(60, 80, 66), recovery: true }, behind],
    ['the primary, where 65 has ended', { snapshot: parse('60:82:60,66') }, delta(3)],
    ['the primary, where 65 is ending', { snapshot: parse('60:90:60,65') }, behind],
    ['the primary, where nothing from 65 on has ended', { snapshot: parse('60:65:60') }, behind],
    ['the primary, where 65 and its mutation are ending', { snapshot: parse('60:82:60,65'), mutations: 6 }, behind],
    ['a primary that has not come as far', { snapshot: parse('60:65:60'), next: 81n }, reset('future')],
    ['such a one without the mutations', { snapshot: parse('60:65:60'), next: 81n, mutations: 6 }, lost],
  ])("a standby's cookie and %s", (_, change, plan) => {
    const changed = [[3, 1]] as const;
    expect(planPull(ofStandby, { header: headerWith({ changed, ...change }), ...present })).toEqual(plan);
  });

  describe('with a position', () => {
    const withoutTimelines: History = { timelines: [], current: null, lsn: 2000n };
    const history: History = {
      timelines: [
        { id: 'old', since: null },
        { id: 'new', since: 1000n },
      ],
      current: 'new',
      lsn: 2000n,
    };
    const at = (position: string) => cookieWith({ position });
    // A standby that was promoted gives out the IDs of what was assigned in vain again.
    const reused: Partial<Header> = { snapshot: parse('70:71:70'), next: 71n };

    it.each<[string, string, Partial<Header>, Plan]>([
      ['on the timeline of the cookie', 'new/1500', {}, unchanged],
      ['that is not as far on it', 'new/1500', { snapshot: parse('60:69:'), next: 71n }, reset('future')],
      ['that has been promoted, with all of it', 'old/1000', {}, unchanged],
      ['that was, and has changed', 'old/1000', { changed: [[3, 1]] }, delta(3)],
      ['that was, and does not have all of it', 'old/1001', {}, reset('epoch')],
      ['that does not, nor the mutations', 'old/1001', { mutations: 6 }, lost],
      ['that has all of it, and gives IDs out again', 'old/1000', reused, unchanged],
      ['that gives them out again, and lacks some of it', 'old/1001', reused, reset('epoch')],
      ['that has all of it, but has yet to show it', 'old/1000', { shown: parse('60:70:61,69') }, behind],
      ['of another history', 'other/10', {}, reset('epoch')],
      ['without timelines', 'old/1000', { history: withoutTimelines }, reset('epoch')],
      ['where such a history went another way', 'old/1000', { diverged: true }, reset('epoch')],
    ])('a primary %s', (_, position, change, plan) => {
      expect(planPull(at(position), { header: headerWith({ history, ...change }), ...present })).toEqual(plan);
    });

    it.each<[string, string, Partial<Header>, Plan]>([
      ['on the timeline of the cookie', 'new/1500', {}, unchanged],
      ['that lags on it', 'new/1500', { snapshot: parse('60:69:60'), next: 70n }, behind],
      ['that has followed the promotion', 'old/1000', {}, unchanged],
      ['that has, but the cookie went another way', 'old/1001', {}, reset('epoch')],
      ['that has not come to the timeline yet', 'newer/3000', { snapshot: parse('69:80:69'), next: 80n }, behind],
      ['that should have', 'newer/3000', { snapshot: parse('70:80:70'), next: 80n }, reset('epoch')],
      ['that has not come to the mutations', 'newer/3000', { snapshot: parse('69:80:69'), mutations: 6 }, behind],
      ['that shows no timelines', 'old/1000', { snapshot: parse('69:70:69'), history: withoutTimelines }, behind],
    ])('a standby %s', (_, position, change, plan) => {
      const header = headerWith({ history, recovery: true, ...change });
      expect(planPull(at(position), { header, ...present })).toEqual(plan);
    });

    it('of another epoch, none of this matters', () => {
      const header = headerWith({ history });
      expect(planPull(at('old/1000'), { header, ...present, epoch: 'other' })).toEqual(reset('epoch'));
    });
  });

  it('takes more than 53 bits', () => {
    const old = cookieWith({ snapshot: '9223372036854775805:9223372036854775806:', next: '9223372036854775806' });
    const at = (xmax: string) => ({
      header: headerWith({ snapshot: parse(`9223372036854775805:${xmax}:`), next: BigInt(xmax) }),
      ...present,
    });
    expect(planPull(old, at('9223372036854775806'))).toEqual(unchanged);
    expect(planPull(old, at('9223372036854775805'))).toEqual(reset('future'));
  });
});

it.each<[Plan, Plan, boolean]>([
  [delta(1, 2), delta(1, 2), true],
  [delta(1, 2), delta(2), true],
  [delta(1), delta(1, 2), false],
  [delta(1), delta(), true],
  [delta(1), unchanged, true],
  [delta(1), behind, false],
  [delta(1), reset('truncate'), false],
  [unchanged, unchanged, true],
  [unchanged, delta(), false],
])('an answer prepared for %j serves %j: %s', (prepared, actual, expected) => {
  expect(covers(prepared, actual)).toBe(expected);
});

it.each<[Header['changed'], boolean]>([
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
])('%j log rows read in vain are worth a fresh cookie: %s', (changed, expected) => {
  expect(isRenewalDue(cookie, { ...header, changed })).toBe(expected);
});
