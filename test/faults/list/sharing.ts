import type { Fault } from '../fault.js';

const file = 'src/pulls/shared-reads.ts';
const pull = 'src/pulls/pull.ts';
const reader = 'src/pulls/reader.ts';
const gate = 'src/limits/gate.ts';
const gates = ['test/limits/gate.test.ts'];
const longReads = 'src/pulls/long-reads.ts';
const tests = ['test/pulls/shared-pulls.test.ts'];
const large = ['test/pulls/large-patches.test.ts'];

export const sharing: readonly Fault[] = [
  {
    name: 'a full join that Postgres plans for constants alone is read for several users at once',
    file: 'src/view/compile/seated.ts',
    find: "join.jointype === 'JOIN_FULL' && ",
    replace: 'false && ',
    tests: ['test/view/seated.test.ts'],
  },
  {
    name: 'large pulls take all connections',
    file: gate,
    find: 'this.#running < places &&',
    replace: 'this.#running < 2 * places &&',
    tests: gates,
  },
  {
    name: 'whoever waits last is let in first',
    file: gate,
    find: 'next.share.running <= one',
    replace: 'next.share.running < one',
    tests: gates,
  },
  {
    name: 'any number of large pulls wait',
    file: gate,
    find: 'this.#waiting.size >= mostWaiting ||',
    replace: '',
    tests: gates,
  },
  {
    name: 'a large pull waits though a place is not to be expected in time',
    file: gate,
    find: ' || this.#waitMs > longestWaitMs;',
    replace: ';',
    tests: gates,
  },
  {
    name: 'all who are sent away are to come back at the same time',
    file: gate,
    find: 'Math.max(now + this.#waitMs, this.#promised + this.#turnMs)',
    replace: 'now + this.#waitMs',
    tests: gates,
  },
  {
    name: 'a client that has gone waits on',
    file: gate,
    find: "signal?.addEventListener('abort', onAbort);",
    replace: '',
    tests: gates,
  },
  {
    name: 'a place is kept by a pull that has been read',
    file: longReads,
    find: 'opened.close().finally(leave)',
    replace: 'opened.close()',
    tests: ['test/pulls/long-reads.test.ts'],
  },
  {
    name: 'one user takes all places',
    file: gate,
    find: ' && running < placesPerUser(places)',
    replace: '',
    tests: gates,
  },
  {
    name: 'whoever has the most places gets the next',
    file: gate,
    find: '!(next && next.share.running <= one.share.running)',
    replace: '!next',
    tests: gates,
  },
  {
    name: 'one user fills the queue',
    file: gate,
    find: 'if (share.waiting >= mostWaiting / 10)',
    replace: 'if (share.waiting >= mostWaiting)',
    tests: gates,
  },
  {
    name: 'whoever finds no place is forgotten',
    file: gate,
    find: 'else this.#shares.delete(userID);',
    replace: '',
    tests: gates,
  },
  {
    name: 'long deltas wait for nobody',
    file: pull,
    find: "const isShort = size === 'short' &&",
    replace: 'const isShort = size &&',
    tests: ['test/pulls/delta-size.test.ts'],
  },
  {
    name: 'a place is given back twice',
    file: gate,
    find: 'if (isOver) return;',
    replace: '',
    tests: gates,
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
    find: '[userID, viewsDigest, ',
    replace: '[userID, ',
    tests,
  },
  {
    name: 'pulls of all users share',
    file: reader,
    find: '[userID, viewsDigest, ',
    replace: '[',
    tests,
  },
  {
    name: 'members that could not share a large patch get what the first one has held',
    file,
    find: '...others.map(async (other) => (await this.#delta([other], other.reader.signal))[0]!)',
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
