/**
 * `npm run stress -- mutants --jobs 2 --only view`: Stryker makes each possible change to the sources of each part, one
 * at a time. Lists the changes that the part's tests do not detect. Fails if these are more than a tenth of a part's
 * changes.
 */
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { type Part, parts } from './rooms.js';

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '2' }, only: { type: 'string', default: '' } },
});
const chosen = parts.filter(({ name }) => name.includes(values.only));
if (chosen.length === 0) throw new Error(`no part has "${values.only}" in its name`);

/** Git ignores it. */
const folder = '.tidemark/mutants';

/** Returns the number of mutants by result, such as Killed and Survived. */
async function runPart({ name, sources, ignoresStatic = false }: Part): Promise<Record<string, number>> {
  process.env.TIDEMARK_MUTANTS_PART = name;
  const stryker = new Stryker({
    mutate: [...sources],
    testRunner: 'vitest',
    vitest: { configFile: 'test/stress/mutants/vitest.config.ts' },
    coverageAnalysis: 'perTest',
    ignoreStatic: ignoresStatic,
    concurrency: Number(values.jobs),
    thresholds: { high: 95, low: 90, break: 90 },
    // Stryker would adapt the file to its copy of the tree, with a compiler interface that TypeScript 7 does not have.
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
for (const part of chosen) fates[part.name] = await runPart(part);
console.table(fates);
