import type { Fault } from '../fault.js';

const file = 'src/pulls/shared-reads.ts';
const pull = 'src/pulls/pull.ts';
const reader = 'src/pulls/reader.ts';
const longReads = 'src/pulls/long-reads.ts';
const longReading = ['test/pulls/long-reads.test.ts'];
const tests = ['test/pulls/shared-pulls.test.ts'];
const large = ['test/pulls/large-patches.test.ts'];

export const sharing: readonly Fault[] = [
  {
    name: 'large pulls take all connections',
    file: longReads,
    find: 'if (this.#running < places)',
    replace: 'if (this.#running < 2 * places)',
    tests: longReading,
  },
  {
    name: 'whoever waits last is let in first',
    file: longReads,
    find: 'const [next] = this.#waiting;',
    replace: 'const next = [...this.#waiting].at(-1);',
    tests: longReading,
  },
  {
    name: 'any number of large pulls wait',
    file: longReads,
    find: 'this.#waiting.size >= mostWaiting ||',
    replace: '',
    tests: longReading,
  },
  {
    name: 'a large pull waits though a place is not to be expected in time',
    file: longReads,
    find: ' || this.#waitMs > longestWaitMs;',
    replace: ';',
    tests: longReading,
  },
  {
    name: 'all who are sent away are to come back at the same time',
    file: longReads,
    find: 'Math.max(now + this.#waitMs, this.#promised + this.#turnMs)',
    replace: 'now + this.#waitMs',
    tests: longReading,
  },
  {
    name: 'a client that has gone waits on',
    file: longReads,
    find: "signal?.addEventListener('abort', onAbort);",
    replace: '',
    tests: longReading,
  },
  {
    name: 'a place is kept by a pull that has been read',
    file: longReads,
    find: 'more.close().finally(leave)',
    replace: 'more.close()',
    tests: longReading,
  },
  {
    name: 'long deltas wait for nobody',
    file: pull,
    find: "size === 'short' ?",
    replace: 'size ?',
    tests: ['test/pulls/delta-size.test.ts'],
  },
  {
    name: 'a place is given back twice',
    file: longReads,
    find: 'if (isOver) return;',
    replace: '',
    tests: longReading,
  },
  {
    name: 'members are told what the first one is',
    file,
    find: 'if (isWhole) return patches;',
    replace: 'if (isWhole) return patches.map(() => patches[0]!);',
    tests,
  },
  {
    name: 'pulls of all snapshots share',
    file: reader,
    find: 'epoch, snapshot, tick',
    replace: 'epoch, tick',
    tests,
  },
  {
    name: 'pulls of all views share',
    file: reader,
    find: '[this.#userID, viewsDigest, ',
    replace: '[this.#userID, ',
    tests,
  },
  {
    name: 'pulls of all users share',
    file: reader,
    find: '[this.#userID, viewsDigest, ',
    replace: '[',
    tests,
  },
  {
    name: 'members that could not share a large patch get what the first one has held',
    file,
    find: '...others.map(async (other) => (await this.#delta([other]))[0]!)',
    replace: '...patches.slice(1)',
    tests: large,
  },
  {
    name: 'patches of any size are held',
    file,
    find: 'bytes <= heldBytes; ) {',
    replace: 'bytes >= 0; ) {',
    tests: large,
  },
  {
    name: 'a large patch for which too much had changed keeps its connection',
    file: pull,
    find: '        await more?.close();\n        return { plan: actual',
    replace: '        return { plan: actual',
    tests: large,
  },
  {
    name: 'a large patch that is refused keeps its connection',
    file: pull,
    find: 'await patch?.more?.close();',
    replace: '',
    tests: large,
  },
  {
    name: 'a first pull that is refused keeps its connection',
    file: pull,
    find: '    } catch (error) {\n      await patch.close();\n',
    replace: '    } catch (error) {\n',
    tests: large,
  },
  {
    name: 'what is grouped by a parameter is shared',
    file: 'src/view/analysis/separable.ts',
    find: 'if (groupedBy(node).some(dependsOnUser)) return false;',
    replace: '',
    tests: ['test/pulls/colleagues.test.ts'],
  },
];
