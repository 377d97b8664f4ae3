import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { ddl, isQuestion, isReading, looksOf, useTailed, views } from './tailed.js';

const tailed = useTailed(ddl, views);
const { start } = tailed;
const looks = () => looksOf(tailed);
const insert = (owner: string) => tailed.database.pool.query('insert into item (owner_id) values ($1)', [owner]);

describe('while nobody listens', () => {
  it('nothing is asked', async () => {
    const { tail } = start();
    for (let i = 0; i < 5; i++) {
      tail.nudge();
      await insert('ann');
      await sleep(20);
    }
    expect(tailed.sent).toEqual([]);
    expect(tail.state()).toEqual({ listeners: 0, lagMs: null });
  });

  it('from the first listener to the last, the change log is looked at', async () => {
    const { listen, tail } = start();
    const leave = [(await listen('ann')).leave, (await listen('ben')).leave];
    expect(looks()).toBe(1);
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(5));
    leave[0]!();
    const half = looks();
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(half + 3));
    leave[1]!();
    expect(tail.state()).toEqual({ listeners: 0, lagMs: null });
    const atLast = looks();
    await sleep(300);
    // One may have been under way.
    expect(looks()).toBeLessThanOrEqual(atLast + 1);
  });

  it('changes are not remembered: the next listener begins anew', async () => {
    const { listen } = start();
    (await listen('ann')).leave();
    await insert('ann');
    const { poke } = await listen('ann');
    const after = looks();
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(after + 2));
    expect(poke.mock.calls.length).toBeLessThanOrEqual(1);
  });
});

describe('a user who is disconnected', () => {
  const disconnect = (userID: string) => tailed.database.pool.query('select tidemark.disconnect($1)', [userID]);

  it('is found once, before anybody is poked, and without a statement more while nothing happens', async () => {
    const { listen, disconnected } = start();
    await disconnect('eve');
    const { poke } = await listen('ann');
    poke.mockImplementation(() => expect(disconnected).toEqual([['ann', 'ben']]));
    await tailed.database.pool.query(`
      begin; select tidemark.disconnect('ben'); select tidemark.disconnect('ann'); select tidemark.disconnect('ann');
      insert into item (owner_id) values ('ann'); commit`);
    await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(1), 10_000);
    const [seen, sent] = [looks(), tailed.sent.length];
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(seen + 5), 10_000);
    const names = tailed.sent.slice(sent).map(({ name }) => name);
    expect(names).not.toContain('tidemark_look');
    expect(names).not.toContain('tidemark_disconnected');
    expect(disconnected).toEqual([['ann', 'ben']]);
  });

  it('is found again if the look fails that found the user', async () => {
    const { listen, disconnected } = start();
    await listen('ann');
    let failures = 0;
    tailed.before = async ({ name }) => {
      if (name === 'tidemark_disconnected' && failures++ === 0) throw new Error('lost');
    };
    await disconnect('ann');
    await vi.waitFor(() => expect(disconnected).toEqual([['ann']]), 10_000);
    expect(failures).toBe(2);
  });
});

describe('a commit by anybody', () => {
  it('pokes whom it concerns within the poll interval, and nobody else', async () => {
    const { listen } = start(100);
    const [ann, ben] = [await listen('ann'), await listen('ben')];
    for (let i = 1; i <= 5; i++) {
      const started = performance.now();
      await insert('ann');
      await vi.waitFor(() => expect(ann.poke).toHaveBeenCalledTimes(i), { timeout: 3_000, interval: 5 });
      // The interval, and time for the look on a busy machine.
      expect(performance.now() - started).toBeLessThan(1_000);
    }
    await insert('ben');
    await vi.waitFor(() => expect(ben.poke).toHaveBeenCalledTimes(1));
    expect(ann.poke).toHaveBeenCalledTimes(5);
  });

  it('that changes two views of a user pokes them once', async () => {
    const { listen } = start(50);
    const { poke } = await listen('ann');
    await tailed.database.pool.query(
      `begin; insert into item (owner_id) values ('ann'); insert into note values ('ann'); commit`,
    );
    await vi.waitFor(() => expect(poke).toHaveBeenCalled());
    const seen = looks();
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(seen + 1));
    expect(poke).toHaveBeenCalledTimes(1);
  });

  it('pokes who began to listen while a look was under way', async () => {
    const { listen } = start(20);
    const ann = await listen('ann');
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    let isHeld = false;
    tailed.before = async ({ name }) => {
      if (name !== 'tidemark_news' || isHeld) return;
      isHeld = true;
      await held;
    };
    await vi.waitFor(() => expect(isHeld).toBe(true));
    const listening = listen('auditor');
    const isListening = await Promise.race([listening.then(() => true), sleep(200, false)]);
    await tailed.database.pool.query(`insert into audit (entry) values ('seen')`);
    go();
    const auditor = await listening;
    await insert('ann');
    await vi.waitFor(() => expect(ann.poke).toHaveBeenCalled());
    // Had listening waited for the look, the pull at the beginning would bring it.
    if (isListening) await vi.waitFor(() => expect(auditor.poke).toHaveBeenCalled());
  });
});

it('a look that failed is made again, however often there is something new', async () => {
  const { listen, tail } = start(100);
  const { poke } = await listen('ann');
  let failures = 0;
  tailed.before = async ({ name }) => {
    if (name === 'tidemark_news' && failures++ === 0) throw new Error('unreachable');
  };
  await vi.waitFor(() => expect(failures).toBe(1));
  // As notifications do, and pushes.
  const nudges = setInterval(() => tail.nudge(), 10);
  await insert('ann');
  await vi.waitFor(() => expect(poke).toHaveBeenCalled(), { timeout: 3_000 }).finally(() => clearInterval(nudges));
});

it('after a look that took long there is rest for twice as long', async () => {
  const { listen } = start(20);
  const { poke } = await listen('ann');
  let asked = 0;
  let answered = 0;
  let next = 0;
  tailed.before = async (statement) => {
    if (isQuestion(statement) && asked === 0) {
      asked = performance.now();
      await sleep(150);
      answered = performance.now();
    } else if (isReading(statement) && answered > 0 && next === 0) next = performance.now();
  };
  await insert('ann');
  await vi.waitFor(() => expect(next).toBeGreaterThan(0), { timeout: 5_000 });
  expect(poke).toHaveBeenCalledOnce();
  // A timer may be a little early.
  expect(next - answered).toBeGreaterThan(Math.min(2 * (answered - asked), 500) - 5);
});

describe('the lag', () => {
  it('is the time since the change log was last read, and grows while it cannot be', async () => {
    const { listen, tail, lines } = start(20);
    await sleep(100);
    const { poke } = await listen('ann');
    expect(tail.state().listeners).toBe(1);
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(3));
    expect(tail.state().lagMs).toBeLessThan(1_000);
    tailed.before = async () => {
      throw new Error('unreachable');
    };
    await vi.waitFor(() => expect(tail.state().lagMs).toBeGreaterThan(1_000), { timeout: 3_000 });
    await insert('ann');
    tailed.before = async () => {};
    await vi.waitFor(() => expect(poke).toHaveBeenCalledOnce(), { timeout: 5_000 });
    // A look pokes before it has ended.
    await vi.waitFor(() => expect(tail.state().lagMs).toBeLessThan(1_000));
    expect(lines).toMatchObject([{ level: 'warn', fields: { error: { message: 'unreachable' } } }]);
  });

  it('is none before the first look has ended', async () => {
    const { listen, tail } = start(20);
    let lag: number | null | undefined;
    tailed.before = async () => {
      lag = tail.state().lagMs;
    };
    await listen('ann');
    expect(lag ?? 0).toBeLessThan(500);
  });

  it('who cannot be told anything is refused', async () => {
    const { listen, tail } = start(20);
    tailed.before = async ({ name }) => {
      if (name === 'tidemark_news') throw new Error('unreachable');
    };
    await expect(listen('ann')).rejects.toThrow('unreachable');
    expect(tail.state().listeners).toBe(0);
    const seen = looks();
    await sleep(200);
    expect(looks()).toBeLessThanOrEqual(seen + 1);
  });
});
