/** Configures how Stryker runs the tests of one part, which the environment names. */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { parts } from './rooms.js';

const part = parts.find(({ name }) => name === process.env.TIDEMARK_MUTANTS_PART)!;

class SlowLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => part.slow?.test(moduleId) ?? false;
    return files.toSorted((one, other) => Number(isSlow(one)) - Number(isSlow(other)));
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/clusters.ts'],
    setupFiles: ['test/support/worker.ts'],
    include: [...part.tests],
    // Each mutant has its own worker. Another worker for each further file would take most of the time.
    isolate: false,
    sequence: { sequencer: SlowLast },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
