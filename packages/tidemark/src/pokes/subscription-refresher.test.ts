import { expect, it } from 'vitest';
import type { SchemaState } from '../schema/schema-state.js';
import { type Subscriber, type Subscription, SubscriptionIndex } from './subscription-index.js';
import { SubscriptionRefresher } from './subscription-refresher.js';

const subscriptionOf = (schemaHash: string): Subscription => ({ views: [], tables: [], schemaHash });
const schemaState = (schemaHash: string, cluster = 'c') => ({ schemaHash, cluster }) as SchemaState;

/** Sets up subscriptions that were resolved at the schema hash `a`. `read` sets the schema state that is read next. */
function setUp() {
  const subscriptions = new SubscriptionIndex();
  let current = schemaState('a');
  const refresher = new SubscriptionRefresher(subscriptions, async () => current);
  const add = (
    name: string,
    resolveViews: () => Promise<Subscription>,
    resolvedSchemaHash: string | undefined = 'a',
  ) => {
    const subscription = subscriptionOf(`${name} 1`);
    const subscriber: Subscriber = {
      clientGroupID: name,
      userID: name,
      subscription,
      resolvedSchemaHash,
      resolveViews,
      poke: () => {},
    };
    subscriptions.add(subscriber);
    return subscriber;
  };
  return {
    add,
    subscriptions,
    read: (schemaHash: string, cluster?: string) => {
      current = schemaState(schemaHash, cluster);
    },
    refreshed: async () => [...(await refresher.refresh())].map(({ userID }) => userID),
  };
}

it('finds the subscribers whose tables have another schema hash, once for each change', async () => {
  const { add, read, refreshed } = setUp();
  const ann = add('ann', async () => subscriptionOf('ann 2'));
  add('ben', async () => subscriptionOf('ben 1'));
  expect(await refreshed()).toEqual([]);
  read('b');
  expect(await refreshed()).toEqual(['ann']);
  expect(ann.subscription.schemaHash).toBe('ann 2');
  expect(await refreshed()).toEqual([]);
  read('b');
  expect(await refreshed()).toEqual([]);
});

it('refreshes subscribers that subscribed during the schema change', async () => {
  const { add, read, refreshed } = setUp();
  add('ann', async () => subscriptionOf('ann 2'));
  read('b');
  add('ben', async () => subscriptionOf('ben 1'), 'b');
  add('cam', async () => subscriptionOf('cam 2'), 'a');
  expect(await refreshed()).toEqual(['ann', 'cam']);
});

it('retries a failed subscription at each new schema state, and returns it twice', async () => {
  const { add, read, refreshed } = setUp();
  let attempts = 0;
  add('ann', async () => {
    if (attempts++ < 2) throw new Error('not captured');
    return subscriptionOf('ann 1');
  });
  read('b');
  expect(await refreshed()).toEqual(['ann']);
  expect(await refreshed()).toEqual([]);
  read('b');
  expect(await refreshed()).toEqual([]);
  expect(attempts).toBe(2);
  // The same schema hash, and again something to pull.
  read('b');
  expect(await refreshed()).toEqual(['ann']);
  read('b');
  expect(await refreshed()).toEqual([]);
  expect(attempts).toBe(3);
});

it('finds all subscribers when another cluster answers', async () => {
  const { add, read, refreshed } = setUp();
  for (const name of ['ann', 'ben']) add(name, async () => subscriptionOf(`${name} 1`));
  expect(await refreshed()).toEqual([]);
  read('a', 'promoted');
  expect(await refreshed()).toEqual(['ann', 'ben']);
});

it('ignores a subscriber that unsubscribes during the refresh', async () => {
  const { add, subscriptions, read, refreshed } = setUp();
  const ann: Subscriber = add('ann', async () => {
    subscriptions.remove(ann);
    return subscriptionOf('ann 2');
  });
  read('b');
  await refreshed();
  expect(subscriptions.size).toBe(0);
});
