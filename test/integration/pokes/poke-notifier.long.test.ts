import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { ddl, isAffectedQuery, isPoll, pollCount, useNotifiers, views } from './notifying.js';

const fixture = useNotifiers(ddl, views);
const { start } = fixture;
const polls = () => pollCount(fixture);
const insert = (owner: string) => fixture.database.pool.query('insert into item (owner_id) values ($1)', [owner]);

describe('a notifier', () => {
  it('sends no statements without subscribers', async () => {
    const { notifier } = start();
    for (let i = 0; i < 5; i++) {
      notifier.wake();
      await insert('ann');
      await sleep(20);
    }
    expect(fixture.sent).toEqual([]);
    expect(notifier.state()).toEqual({ subscribers: 0, lagMs: null });
  });

  it('polls the change log while there are subscribers', async () => {
    const { subscribe, notifier } = start();
    const unsubscribe = [(await subscribe('ann')).unsubscribe, (await subscribe('ben')).unsubscribe];
    expect(polls()).toBe(1);
    await vi.waitFor(() => expect(polls()).toBeGreaterThan(5));
    unsubscribe[0]!();
    const half = polls();
    await vi.waitFor(() => expect(polls()).toBeGreaterThan(half + 3));
    unsubscribe[1]!();
    expect(notifier.state()).toEqual({ subscribers: 0, lagMs: null });
    const atLast = polls();
    await sleep(300);
    // One poll may have been in progress.
    expect(polls()).toBeLessThanOrEqual(atLast + 1);
  });

  it('does not remember changes for the next subscriber', async () => {
    const { subscribe } = start();
    (await subscribe('ann')).unsubscribe();
    await insert('ann');
    const { poke } = await subscribe('ann');
    const after = polls();
    await vi.waitFor(() => expect(polls()).toBeGreaterThan(after + 2));
    expect(poke.mock.calls.length).toBeLessThanOrEqual(1);
  });
});

describe('a disconnected user', () => {
  const disconnect = (userID: string) => fixture.database.pool.query('select tidemark.disconnect($1)', [userID]);

  it('is reported once, before any poke, and causes no more statements while nothing changes', async () => {
    const { subscribe, disconnected } = start();
    await disconnect('eve');
    const { poke } = await subscribe('ann');
    poke.mockImplementation(() => expect(disconnected).toEqual([['ann', 'ben']]));
    await fixture.database.pool.query(`
      begin; select tidemark.disconnect('ben'); select tidemark.disconnect('ann'); select tidemark.disconnect('ann');
      insert into item (owner_id) values ('ann'); commit`);
    await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(1), 10_000);
    const [before, sent] = [polls(), fixture.sent.length];
    await vi.waitFor(() => expect(polls()).toBeGreaterThan(before + 5), 10_000);
    const names = fixture.sent.slice(sent).map(({ name }) => name);
    expect(names).not.toContain('tidemark_poll');
    expect(names).not.toContain('tidemark_disconnected');
    expect(disconnected).toEqual([['ann', 'ben']]);
  });

  it('is reported by the next poll if one fails', async () => {
    const { subscribe, disconnected } = start();
    await subscribe('ann');
    let failures = 0;
    fixture.before = async ({ name }) => {
      if (name === 'tidemark_disconnected' && failures++ === 0) throw new Error('lost');
    };
    await disconnect('ann');
    await vi.waitFor(() => expect(disconnected).toEqual([['ann']]), 10_000);
    expect(failures).toBe(2);
  });
});

describe('a commit', () => {
  it('pokes the subscribers that it affects within the poll interval, and no others', async () => {
    const { subscribe } = start(100);
    const [ann, ben] = [await subscribe('ann'), await subscribe('ben')];
    for (let i = 1; i <= 5; i++) {
      const started = performance.now();
      await insert('ann');
      await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledTimes(i), { timeout: 3_000, interval: 5 });
      // The interval, and time for the poll on a busy machine.
      expect(performance.now() - started).toBeLessThan(1_000);
    }
    await insert('ben');
    await vi.waitFor(() => expect(ben.poke).toHaveBeenCalledTimes(1));
    expect(ann.poke).toHaveBeenCalledTimes(5);
  });

  it('pokes a user once if it changes two views', async () => {
    const { subscribe } = start(50);
    const { poke } = await subscribe('ann');
    await fixture.database.pool.query(
      `begin; insert into item (owner_id) values ('ann'); insert into note values ('ann'); commit`,
    );
    await vi.waitFor(() => expect(poke).toHaveBeenCalled());
    const before = polls();
    await vi.waitFor(() => expect(polls()).toBeGreaterThan(before + 1));
    expect(poke).toHaveBeenCalledTimes(1);
  });

  it('pokes a subscriber that subscribed during a poll', async () => {
    const { subscribe } = start(20);
    const ann = await subscribe('ann');
    let go = () => {};
    const pause = new Promise<void>((resolve) => {
      go = resolve;
    });
    let isHeld = false;
    fixture.before = async ({ name }) => {
      if (name !== 'tidemark_poll_if_changed' || isHeld) return;
      isHeld = true;
      await pause;
    };
    await vi.waitFor(() => expect(isHeld).toBe(true));
    const subscribing = subscribe('auditor');
    const isSubscribed = await Promise.race([subscribing.then(() => true), sleep(200, false)]);
    await fixture.database.pool.query(`insert into audit (entry) values ('seen')`);
    go();
    const auditor = await subscribing;
    await insert('ann');
    await vi.waitFor(() => expect(ann.poke).toHaveBeenCalled());
    // If the subscription had waited for the poll, the initial pull would bring the change.
    if (isSubscribed) await vi.waitFor(() => expect(auditor.poke).toHaveBeenCalled());
  });
});

it('a failed poll is repeated even if the notifier is woken all the time', async () => {
  const { subscribe, notifier } = start(100);
  const { poke } = await subscribe('ann');
  let failures = 0;
  fixture.before = async ({ name }) => {
    if (name === 'tidemark_poll_if_changed' && failures++ === 0) throw new Error('unreachable');
  };
  await vi.waitFor(() => expect(failures).toBe(1));
  // As notifications and pushes do.
  const wakeUps = setInterval(() => notifier.wake(), 10);
  await insert('ann');
  await vi.waitFor(() => expect(poke).toHaveBeenCalled(), { timeout: 3_000 }).finally(() => clearInterval(wakeUps));
});

it('the notifier pauses twice as long as a slow poll took', async () => {
  const { subscribe } = start(20);
  const { poke } = await subscribe('ann');
  let queriedAt = 0;
  let answeredAt = 0;
  let nextPollAt = 0;
  fixture.before = async (statement) => {
    if (isAffectedQuery(statement) && queriedAt === 0) {
      queriedAt = performance.now();
      await sleep(150);
      answeredAt = performance.now();
    } else if (isPoll(statement) && answeredAt > 0 && nextPollAt === 0) nextPollAt = performance.now();
  };
  await insert('ann');
  await vi.waitFor(() => expect(nextPollAt).toBeGreaterThan(0), { timeout: 5_000 });
  expect(poke).toHaveBeenCalledOnce();
  // A timer may fire slightly early.
  expect(nextPollAt - answeredAt).toBeGreaterThan(Math.min(2 * (answeredAt - queriedAt), 500) - 5);
});

describe('the lag', () => {
  it('is the time since the last read of the change log, and grows while reads fail', async () => {
    const { subscribe, notifier, lines } = start(20);
    await sleep(100);
    const { poke } = await subscribe('ann');
    expect(notifier.state().subscribers).toBe(1);
    await vi.waitFor(() => expect(polls()).toBeGreaterThan(3));
    expect(notifier.state().lagMs).toBeLessThan(1_000);
    fixture.before = async () => {
      throw new Error('unreachable');
    };
    await vi.waitFor(() => expect(notifier.state().lagMs).toBeGreaterThan(1_000), { timeout: 3_000 });
    await insert('ann');
    fixture.before = async () => {};
    await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce(), { timeout: 5_000 });
    // A poll pokes before it ends.
    await vi.waitFor(() => expect(notifier.state().lagMs).toBeLessThan(1_000));
    expect(lines).toMatchObject([{ level: 'warn', fields: { error: { message: 'unreachable' } } }]);
  });

  it('is short before the first poll has ended', async () => {
    const { subscribe, notifier } = start(20);
    let lag: number | null | undefined;
    fixture.before = async () => {
      lag = notifier.state().lagMs;
    };
    await subscribe('ann');
    expect(lag ?? 0).toBeLessThan(500);
  });
});

it('a subscriber is refused while the change log cannot be read', async () => {
  const { subscribe, notifier } = start(20);
  fixture.before = async ({ name }) => {
    if (name === 'tidemark_poll_if_changed') throw new Error('unreachable');
  };
  await expect(subscribe('ann')).rejects.toThrow('unreachable');
  expect(notifier.state().subscribers).toBe(0);
  const before = polls();
  await sleep(200);
  expect(polls()).toBeLessThanOrEqual(before + 1);
});
