import type { Fault } from '../fault.js';

const file = 'src/pulls/shared-reads.ts';
const pull = 'src/pulls/pull.ts';
const tests = ['test/pulls/shared-pulls.test.ts'];
const large = ['test/pulls/large-patches.test.ts'];

export const sharing: readonly Fault[] = [
  {
    name: 'members are told what the first one is',
    file,
    find: 'if (isWhole) return patches;',
    replace: 'if (isWhole) return patches.map(() => patches[0]!);',
    tests,
  },
  {
    name: 'pulls of all snapshots share',
    file: pull,
    find: 'cluster, epoch, snapshot, tick',
    replace: 'cluster, epoch, tick',
    tests,
  },
  {
    name: 'pulls of all views share',
    file: pull,
    find: '[caller.context.userID, viewsDigest, cluster',
    replace: '[caller.context.userID, cluster',
    tests,
  },
  {
    name: 'pulls of all users share',
    file: pull,
    find: '[caller.context.userID, viewsDigest, ',
    replace: '[',
    tests,
  },
  {
    name: 'members that could not share a large patch get what the first one has held',
    file,
    find: '...others.map(async (reader) => (await this.#delta([reader]))[0]!)',
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
];
