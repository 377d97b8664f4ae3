import { expect, it } from 'vitest';
import type { SyncedTable } from '../store/patches/states.js';
import type { ResolvedView } from '../view/client-views.js';
import type { CompiledView } from '../view/compile/compile.js';
import { type Subscriber, type Subscription, SubscriptionIndex } from './subscription-index.js';

const views = { todo: {} as CompiledView, list: {} as CompiledView };
const table = (id: number): SyncedTable => ({ id }) as SyncedTable;
const resolvedView = (view: CompiledView, ...literals: string[]): ResolvedView =>
  ({ view, literals }) as unknown as ResolvedView;

function subscriptionOf(userID: string, schemaHash = 'a'): Subscription {
  const literal = `'${userID}'`;
  return {
    views: [resolvedView(views.todo, literal), resolvedView(views.list)],
    tables: [table(1), table(2)],
    schemaHash,
  };
}

function subscriber(userID: string): Subscriber {
  const subscription = subscriptionOf(userID);
  return {
    clientGroupID: userID,
    userID,
    subscription: subscription,
    resolvedSchemaHash: 'a',
    resolveViews: async () => subscription,
    poke: () => {},
  };
}

/** Returns the users in each cohort of each view. */
const usersByCohort = (subscriptions: SubscriptionIndex) =>
  [...subscriptions.all()].map(({ cohorts }) =>
    [...cohorts.values()].map(({ parameters: { literals }, subscribers }) => [
      ...literals,
      ...[...subscribers].map((one) => one.userID),
    ]),
  );

it('puts subscribers with the same parameters into one cohort', () => {
  const subscriptions = new SubscriptionIndex();
  for (const userID of ['ann', 'ben', 'ann']) subscriptions.add(subscriber(userID));
  expect(subscriptions.size).toBe(3);
  expect(usersByCohort(subscriptions)).toEqual([
    [
      ["'ann'", 'ann', 'ann'],
      ["'ben'", 'ben'],
    ],
    [['ann', 'ben', 'ann']],
  ]);
  expect(subscriptions.tables().map(({ id }) => id)).toEqual([1, 2]);
});

it('keeps nothing of removed subscribers', () => {
  const subscriptions = new SubscriptionIndex();
  const all = ['ann', 'ben', 'ann'].map(subscriber);
  for (const one of all) subscriptions.add(one);
  subscriptions.remove(all[0]!);
  subscriptions.remove(all[0]!);
  expect(usersByCohort(subscriptions)).toEqual([
    [
      ["'ann'", 'ann'],
      ["'ben'", 'ben'],
    ],
    [['ben', 'ann']],
  ]);
  for (const one of all) subscriptions.remove(one);
  expect([subscriptions.size, usersByCohort(subscriptions), subscriptions.tables()]).toEqual([0, [], []]);
});

it('updates a subscriber whose views have changed, unless it has unsubscribed', () => {
  const subscriptions = new SubscriptionIndex();
  const ann = subscriber('ann');
  subscriptions.add(ann);
  subscriptions.update(ann, { views: [resolvedView(views.list)], tables: [table(2)], schemaHash: 'b' });
  expect(usersByCohort(subscriptions)).toEqual([[['ann']]]);
  expect(subscriptions.tables().map(({ id }) => id)).toEqual([2]);
  subscriptions.remove(ann);
  subscriptions.update(ann, subscriptionOf('ann'));
  expect(subscriptions.size).toBe(0);
});

it('pokes only current subscribers', () => {
  const subscriptions = new SubscriptionIndex();
  const poked: string[] = [];
  const [ann, ben] = ['ann', 'ben'].map((userID) => ({ ...subscriber(userID), poke: () => void poked.push(userID) }));
  subscriptions.add(ann!);
  subscriptions.poke([ann!, ben!]);
  expect(poked).toEqual(['ann']);
});
