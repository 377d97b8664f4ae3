/** Runs two versions of an application over one database, while clients of both are routed to servers of either. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applications, contract, expand } from './application.js';
import { Deployment } from './deployment.js';
import { seeds } from './seeds.js';

const { first, both, second } = applications;
const steps = 16;

let deployment: Deployment;

async function begin(seed: number): Promise<void> {
  deployment = await Deployment.create(seed);
  await deployment.migrate(first);
  await deployment.start(first, 2);
  deployment.open('1');
  await deployment.work(steps);
}

/** Both versions are served, by old and new servers, until those of the old version have gone. */
async function mix(): Promise<void> {
  const before = deployment.resets;
  deployment.open('2');
  await deployment.work(2 * steps);
  expect(await deployment.converge()).toEqual([]);
  expect(deployment.resets).toBe(before);
  const unserved = deployment.unserved('2');
  expect(unserved).toBeGreaterThan(0);
  await deployment.stop(first);
  await deployment.work(steps);
  expect(await deployment.converge()).toEqual([]);
  expect(deployment.resets).toBe(before);
  expect(deployment.unserved('2')).toBe(unserved);
  expect(deployment.unserved('1')).toBe(0);
}

/** Removes version 1: first its clients, then its servers. */
async function end(): Promise<void> {
  const [late] = deployment.leave('1');
  const pulls = await deployment.pullsOf('1');
  expect(pulls).toBeGreaterThan(0);
  const before = deployment.resets;
  await deployment.work(steps);
  expect(await deployment.pullsOf('1')).toBe(pulls);
  await deployment.start(second, 2);
  await deployment.work(steps);
  await deployment.stop(both);
  expect(await deployment.converge()).toEqual([]);
  expect(deployment.resets).toBe(before);

  await Promise.all([deployment.work(steps), deployment.pool.query(contract)]);
  expect(await deployment.converge()).toEqual([]);

  const { pushed, cookie } = late!;
  await late!.pushAgain(deployment.server());
  await late!.pull(deployment.server());
  expect(late).toMatchObject({ pushed, cookie, unserved: 2, objections: [] });
  await deployment.stop(second);
  expect([...deployment.reasons]).toEqual([]);
}

describe.each(seeds)('a new version of an application (seed %i)', (seed) => {
  beforeEach(() => begin(seed));
  afterEach(() => deployment.close());

  it('resets no client and loses no mutation if the migration runs first', async () => {
    await Promise.all([deployment.work(steps), deployment.pool.query(expand)]);
    await deployment.migrate(both);
    expect(await deployment.converge()).toEqual([]);
    await deployment.start(both, 2);
    await mix();
    await end();
  });

  it('does not start before its migration, and does not affect the running servers', async () => {
    const early = (reason: RegExp) =>
      Promise.all([deployment.work(steps), expect(deployment.start(both, 1)).rejects.toThrow(reason)]);
    await early(/column "stars" does not exist/);
    await Promise.all([deployment.work(steps), deployment.pool.query(expand)]);
    await early(/reminder are not captured.*Run `tidemark migrate`/);
    await Promise.all([deployment.work(steps), deployment.migrate(both)]);
    expect(await deployment.converge()).toEqual([]);
    await deployment.start(both, 2);
    await mix();
    await end();
  });
});
