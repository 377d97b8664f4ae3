/** Runs two versions of Tidemark over one database, while clients switch between the servers of both. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Fleet } from './fleet.js';
import { seeds } from './seeds.js';
import { lastRelease, loadVersions, removeVersions, type Versions } from './versions.js';

const steps = 24;
const release = lastRelease();

let versions: Versions;
let fleet: Fleet;

async function begin(seed: number): Promise<void> {
  fleet = await Fleet.create(seed);
  await fleet.migrate(versions.before);
  await fleet.start(versions.before, 2);
  await fleet.work(steps);
}

/** Nothing was lost, no client was reset, and no server has complained. */
async function expectWell(): Promise<void> {
  expect(await fleet.converge()).toEqual([]);
  expect(fleet.complaints).toEqual([]);
  expect(fleet.clients.map(({ resets }) => resets)).toEqual(fleet.clients.map(() => 0));
}

/** Removes the servers of the previous version. */
async function leaveAlone(): Promise<void> {
  await fleet.stop(versions.before);
  await fleet.work(2 * steps);
  await expectWell();
}

if (release === undefined) {
  it('there is no release to upgrade from yet', () => expect(release).toBeUndefined());
} else {
  beforeAll(async () => {
    versions = await loadVersions(release);
  });
  afterAll(removeVersions);

  describe.each(seeds)(`an upgrade from ${release} (seed %i)`, (seed) => {
    beforeEach(() => begin(seed));
    afterEach(() => fleet.close());

    it('resets no client and loses no mutation if the schema is migrated first', async () => {
      const { before, now } = versions;
      await Promise.all([fleet.work(steps), fleet.migrate(now)]);
      await expectWell();
      await fleet.start(now, 2);
      await fleet.work(2 * steps);
      await fleet.writeHeartbeat(before);
      await fleet.writeHeartbeat(now);
      await fleet.work(steps);
      await expectWell();
      await leaveAlone();
    });

    it('resets no client and loses no mutation if the servers start first', async () => {
      const { before, now } = versions;
      await fleet.start(now, 2);
      await fleet.work(2 * steps);
      await expectWell();
      await Promise.all([fleet.work(steps), fleet.migrate(now)]);
      await fleet.writeHeartbeat(before);
      await fleet.work(steps);
      await expectWell();
      await leaveAlone();
    });
  });
}
