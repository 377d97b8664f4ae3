import { describe, expect, it } from 'vitest';
import { openCookie, sealCookie } from '../../src/protocol/cookie.js';
import type { Header } from '../../src/store/header.js';
import { covers, isRenewalDue, type Plan, type Present, planPull } from '../../src/sync/plan.js';

const header: Header = {
  snapshot: '100:110:105',
  recovery: false,
  installID: 'install',
  database: '5',
  tick: 'tick',
  diverged: false,
  horizon: '50',
  aging: '55',
  owner: 'ada',
  clientKnown: true,
  lastMutationIDs: null,
  mutations: 7,
  changed: [],
  truncated: false,
  torn: false,
};
const cookie = openCookie(
  sealCookie(
    {
      order: 1,
      snapshot: '60:70:61',
      epoch: 'epoch',
      views: 'views',
      clientGroupID: 'group',
      mutations: 7,
      tick: 'tick',
    },
    'secret',
  ),
  'secret',
)!;

const present = { clientGroupID: 'group', epoch: 'epoch', views: 'views' };
const unchanged: Plan = { kind: 'unchanged' };
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
    ['a database behind the cookie', { snapshot: '60:69:' }, {}, reset('future')],
    ['a standby behind the cookie', { snapshot: '60:69:', recovery: true }, {}, unchanged],
    ['a standby of another epoch', { snapshot: '60:69:', recovery: true }, { epoch: 'other' }, reset('epoch')],
    ['a database just as far', { snapshot: '60:70:61' }, {}, unchanged],
    ['a history that went another way', { diverged: true, changed: [[3, 1]] }, {}, reset('epoch')],
    ['a standby of such a history', { diverged: true, recovery: true }, {}, reset('epoch')],
    [
      'a standby that may only be behind',
      { diverged: true, recovery: true, snapshot: '59:110:60,61,70', changed: [[3, 1]] },
      {},
      unchanged,
    ],
    ['a horizon above the cookie', { horizon: '61' }, {}, reset('horizon')],
    ['a horizon at the cookie', { horizon: '60' }, {}, unchanged],
    ['a truncated table', { truncated: true, changed: [[3, 1]] }, {}, reset('truncate')],
    ['several reasons: the views come first', { truncated: true }, { views: 'other', epoch: 'other' }, reset('views')],
    ['a cookie that has aged', { aging: '61' }, {}, delta()],
    ['more mutations than the cookie tells of', { mutations: 8 }, {}, unchanged],
    ['fewer mutations than the group was told of', { mutations: 6 }, {}, { kind: 'lost' }],
    ['fewer, in a restored database', { mutations: 6 }, { epoch: 'other' }, { kind: 'lost' }],
    ['fewer, of another group', { mutations: 6 }, { clientGroupID: 'other' }, unchanged],
    ['fewer, on a standby that is behind', { mutations: 6, snapshot: '60:69:', recovery: true }, {}, unchanged],
  ])('%s', (_, change, other, plan) => {
    expect(planPull(cookie, { header: { ...header, ...change }, ...present, ...other })).toEqual(plan);
  });

  it('takes more than 53 bits', () => {
    const snapshot = '9223372036854775805:9223372036854775806:';
    const old = openCookie(sealCookie({ ...cookie, snapshot }, 'secret'), 'secret')!;
    const at = (xmax: string) => ({
      header: { ...header, snapshot: `9223372036854775805:${xmax}:` },
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
