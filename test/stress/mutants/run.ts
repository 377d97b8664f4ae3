/**
 * `npm run stress -- mutants --jobs 2 --only view`: has Stryker change the sources of each room at every place where something
 * can be changed, one by one, and says which changes the room's tests pass over. Fails when these are more than a tenth
 * of a room's.
 */
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { type Room, rooms } from './rooms.js';

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '2' }, only: { type: 'string', default: '' } },
});
const chosen = rooms.filter(({ name }) => name.includes(values.only));
if (chosen.length === 0) throw new Error(`no room has "${values.only}" in its name`);

/** Ignored by git. */
const folder = '.tidemark/mutants';

/** How many mutants there are of each fate, such as Killed and Survived. */
async function runRoom({ name, sources, ignoresStatic = false }: Room): Promise<Record<string, number>> {
  process.env.TIDEMARK_MUTANTS_ROOM = name;
  const stryker = new Stryker({
    mutate: [...sources],
    testRunner: 'vitest',
    vitest: { configFile: 'test/stress/mutants/vitest.config.ts' },
    coverageAnalysis: 'perTest',
    ignoreStatic: ignoresStatic,
    concurrency: Number(values.jobs),
    thresholds: { high: 95, low: 90, break: 90 },
    // Stryker would adapt the file to its copy of the tree, with an interface of the compiler that TypeScript 7 does
    // not have.
    tsconfigFile: 'none',
    ignorePatterns: ['/.tidemark', '/bench', 'dist'],
    tempDirName: `${folder}/copies`,
    reporters: ['clear-text', 'progress', 'json'],
    clearTextReporter: { allowColor: false, reportTests: false },
    jsonReporter: { fileName: `${folder}/${name.replace('/', '-')}.json` },
  });
  const counts: Record<string, number> = {};
  for (const { status } of await stryker.runMutationTest()) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const fates: Record<string, Record<string, number>> = {};
for (const room of chosen) fates[room.name] = await runRoom(room);
console.table(fates);
