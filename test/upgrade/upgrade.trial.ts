/** Two versions of Tidemark over one database, while clients go from the servers of one to those of the other. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Fleet } from './fleet.js';
import { seeds } from './seeds.js';
import { loadVersions, removeVersions, type Versions } from './versions.js';

const steps = 24;

let versions: Versions;
let fleet: Fleet;

beforeAll(async () => {
  versions = await loadVersions();
});
afterAll(removeVersions);

async function begin(seed: number): Promise<void> {
  fleet = await Fleet.create(seed);
  await fleet.migrate(versions.before);
  await fleet.start(versions.before, 2);
  await fleet.work(steps);
}

/** Nothing has been lost, nobody has been reset, and no server has complained. */
async function expectWell(): Promise<void> {
  expect(await fleet.settle()).toEqual([]);
  expect(fleet.complaints).toEqual([]);
  expect(fleet.clients.map(({ resets }) => resets)).toEqual(fleet.clients.map(() => 0));
}

const hasPosition = () => fleet.clients.map(({ cookie }) => cookie !== null && 'position' in cookie);

/** The servers of the version before go, and those that stay come to write the second form. */
async function leaveAlone(): Promise<void> {
  await fleet.stop(versions.before);
  await fleet.work(steps);
  await expectWell();
  expect(hasPosition()).not.toContain(true);
  await fleet.pool.query(`update tidemark.tick set at = at - interval '4 minutes' where cookie_form is null`);
  // Servers read once a second who else is running.
  const untilWritten = async () => {
    await fleet.work(steps);
    expect(hasPosition()).toContain(true);
  };
  await vi.waitFor(untilWritten, 10_000);
  await fleet.work(2 * steps);
  await expectWell();
}

describe.each(seeds)('seed %i', (seed) => {
  beforeEach(() => begin(seed));
  afterEach(() => fleet.close());

  it('the schema first: nobody is reset, and no mutation is lost', async () => {
    const { before, now } = versions;
    await Promise.all([fleet.work(steps), fleet.migrate(now)]);
    await expectWell();
    await fleet.start(now, 2);
    await fleet.work(2 * steps);
    await fleet.tick(before);
    await fleet.tick(now);
    await fleet.work(steps);
    await expectWell();
    await leaveAlone();
  });

  it('the servers first: nobody is reset, and no mutation is lost', async () => {
    const { before, now } = versions;
    await fleet.start(now, 2);
    await fleet.work(2 * steps);
    await expectWell();
    await Promise.all([fleet.work(steps), fleet.migrate(now)]);
    await fleet.tick(before);
    await fleet.work(steps);
    await expectWell();
    await leaveAlone();
  });
});
