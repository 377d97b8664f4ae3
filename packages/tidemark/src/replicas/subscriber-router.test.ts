import { expect, it } from 'vitest';
import { silent } from '../../../../test/support/log.js';
import { Deferred } from '../deferred.js';
import type { Replica } from './replica.js';
import { SubscriberRouter } from './subscriber-router.js';

const ctx = { userID: 'ada' };
const clients = { profileID: '', schemaVersion: '' };

/** A replica that counts its subscriptions. Its next ones wait for `until`. */
function createReplica() {
  const replica = {
    open: 0,
    until: Promise.resolve(),
    notifier: {
      async subscribe() {
        await replica.until;
        replica.open++;
        return () => replica.open--;
      },
    },
  };
  return replica;
}

/** A router to these replicas, which a test may change. */
function createRouter(replicas: unknown[]) {
  return new SubscriberRouter(() => [...replicas] as Replica<typeof ctx>[], silent);
}

/** A subscriber that is being routed to one replica. `move` makes it belong to another one before that ends. */
function startSubscribing() {
  const [one, two] = [createReplica(), createReplica()];
  const replicas = [one];
  const router = createRouter(replicas);
  const routed = new Deferred<void>();
  one.until = routed.promise;
  const subscribing = router.subscribe(ctx, clients, () => {});
  const move = (until: Promise<void>) => {
    two.until = until;
    replicas.splice(0, 1, two);
    routed.resolve();
  };
  return { one, two, router, subscribing, move };
}

it('a subscription that fails on one replica is left on none', async () => {
  const [one, two] = [createReplica(), createReplica()];
  const router = createRouter([one, two]);
  two.until = Promise.reject(new Error('lost'));
  await expect(router.subscribe(ctx, clients, () => {})).rejects.toThrow('lost');
  expect(one.open).toBe(0);
});

it('a subscription that fails when it is rerouted at once is left on none, and is not rerouted again', async () => {
  const { one, two, router, subscribing, move } = startSubscribing();
  move(Promise.reject(new Error('lost')));
  await expect(subscribing).rejects.toThrow('lost');
  two.until = Promise.resolve();
  await router.reroute();
  expect([one.open, two.open]).toEqual([0, 0]);
});

it('a subscriber that is routed twice at the same time is subscribed once', async () => {
  const { one, two, router, subscribing, move } = startSubscribing();
  const rerouted = new Deferred<void>();
  move(rerouted.promise);
  // `subscribe` routes it to the second replica now, and so does `reroute`.
  await new Promise((resolve) => setImmediate(resolve));
  const rerouting = router.reroute();
  await new Promise((resolve) => setImmediate(resolve));
  rerouted.resolve();
  const end = await subscribing;
  await rerouting;
  expect([one.open, two.open]).toEqual([0, 1]);
  end();
  expect(two.open).toBe(0);
});
