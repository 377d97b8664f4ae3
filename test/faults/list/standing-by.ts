import type { Fault } from '../fault.js';

const reading = ['test/sources/reading.trial.ts'];
const sources = 'src/sources/sources.ts';

export const standingBy: readonly Fault[] = [
  {
    name: 'a standby does not care what the client has written',
    file: 'src/sources/demands.ts',
    find: 'return { since: since && upTo(window, since), timeline: timelineOf(window), xids };',
    replace: 'return { since: undefined, timeline: timelineOf(window), xids: [] };',
    tests: reading,
  },
  {
    name: 'a read over REST shows what a standby has',
    file: sources,
    find: '(isFollowing ? nothing : everything(window))',
    replace: 'nothing',
    tests: reading,
  },
  {
    name: 'what a client has written is asked of what was known before',
    file: 'src/sources/paced-looks.ts',
    find: 'this.#next = undefined;',
    replace: '',
    tests: reading,
  },
  {
    name: 'a primary counts as away when this process was busy',
    file: 'src/sources/paced-looks.ts',
    find: 'first: 5, again',
    replace: 'first: 1, again',
    tests: ['test/sources/paced-looks.test.ts'],
  },
  {
    name: 'a primary that has been away counts as away at once',
    file: 'src/sources/paced-looks.ts',
    find: 'this.#isAway = left === 0;\n    return this.#isAway',
    replace: 'this.#isAway ||= left === 0;\n    return left === 0',
    tests: ['test/sources/paced-looks.test.ts'],
  },
  {
    name: 'clients of standbys are told by the primary',
    file: sources,
    find: 'if (used.length === 0) return',
    replace: 'return',
    tests: reading,
  },
  {
    name: 'who listens stays where it is',
    file: 'src/sources/moving-listeners.ts',
    find: 'this.#moving.then(() => this.#moveAll())',
    replace: 'Promise.resolve()',
    tests: reading,
  },
  {
    name: 'a standby that fails has its answer broken off',
    file: sources,
    find: "'cookie' in pulled ? replaceable(",
    replace: "'cookie' in {} ? replaceable(",
    tests: reading,
  },
  {
    name: 'an op is left in the middle',
    file: 'src/sources/replaceable.ts',
    find: 'of wholeLines(linesIn(patched))',
    replace: 'of linesIn(patched)',
    tests: reading,
  },
  {
    name: 'the standby of a client is any of them',
    file: 'src/sources/assignment.ts',
    find: 'JSON.stringify([name, key])',
    replace: 'JSON.stringify([Math.random(), key])',
    tests: ['test/sources/assignment.test.ts'],
  },
  {
    name: 'a promoted standby meets demands',
    file: 'src/pulls/demand.ts',
    find: '!header.recovery || ',
    replace: '',
    tests: ['test/sources/demand.test.ts'],
  },
  {
    name: 'a standby resets whom it does not know',
    file: 'src/pulls/demand.ts',
    find: "certain.has(reason) || (reason === 'views' && (await confirms(viewsDigest)))",
    replace: 'true',
    tests: ['test/sources/demand.test.ts'],
  },
  {
    name: 'lag goes on while nothing is written',
    file: 'src/sources/lag.ts',
    find: 'position > replayed',
    replace: 'position >= replayed',
    tests: ['test/sources/lag.test.ts'],
  },
  {
    name: 'mutations that are not all listed are taken for all',
    file: 'src/window/window.ts',
    find: '(!blurred || covers(base, blurred))',
    replace: 'true',
    tests: ['test/window/window.test.ts'],
  },
];
