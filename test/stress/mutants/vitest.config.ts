/** How Stryker runs the tests of one room, whose name the environment has. */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { rooms } from './rooms.js';

const room = rooms.find(({ name }) => name === process.env.TIDEMARK_MUTANTS_ROOM)!;

class SlowLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => room.slow?.test(moduleId) ?? false;
    return files.toSorted((one, other) => Number(isSlow(one)) - Number(isSlow(other)));
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/clusters.ts'],
    setupFiles: ['test/support/worker.ts'],
    include: [...room.tests],
    // Each mutant has a worker of its own; a second one for each further file would take most of the time.
    isolate: false,
    sequence: { sequencer: SlowLast },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
