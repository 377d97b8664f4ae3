import type { Fault } from '../fault.js';

const file = 'src/protocol/cookie.ts';
const snapshot = 'src/protocol/snapshot.ts';
const secrets = 'src/installation/secrets.ts';
const tests = ['test/protocol/cookie.test.ts'];
const rotations = ['test/installation/secrets.test.ts'];

export const cookies: readonly Fault[] = [
  {
    name: 'signatures are not compared',
    file,
    find: 'one.length === other.length && timingSafeEqual(one, other)',
    replace: 'one.length === other.length',
    tests,
  },
  ...['order', 'clientGroupID', 'mutations'].map((field) => ({
    name: `the ${field} is not signed`,
    file,
    find: '.update(message)',
    replace: `.update(message.replace(JSON.stringify(${field}), ''))`,
    tests,
  })),
  {
    name: 'parts of a digest run together',
    file,
    find: "hash('sha256', JSON.stringify(parts)",
    replace: "hash('sha256', parts.join('')",
    tests,
  },
  {
    name: 'a cookie of the previous secret is never renewed',
    file: 'src/pulls/plan.ts',
    find: ' || cookie.isOutdated',
    replace: '',
    tests: rotations,
  },
  {
    name: 'the previous secret is good for ever',
    file: secrets,
    find: 'm.previous_until > now()',
    replace: 'true',
    tests: rotations,
  },
  {
    name: 'the previous secret is good for the retention from its rotation on',
    file: secrets,
    find: 'secs => $1 + $2',
    replace: 'secs => $2 + 0 * $1',
    tests: rotations,
  },
  {
    name: 'a new secret signs before all servers know it',
    file: secrets,
    find: 'array[m.previous_secret, m.secret]',
    replace: 'array[m.secret, m.previous_secret]',
    tests: rotations,
  },
  {
    name: 'an order may stay as it is',
    file,
    find: 'Math.max(target, Math.floor(previous) + 1)',
    replace: 'Math.max(target, Math.floor(previous))',
    tests,
  },
  {
    name: 'an order may fall',
    file,
    find: 'Math.max(target, Math.floor(previous) + 1)',
    replace: 'target',
    tests,
  },
  {
    name: 'transactions in progress count as finished',
    file: snapshot,
    find: 'finished - (last - first + 1n)',
    replace: 'finished - 0n * (last - first + 1n)',
    tests: ['test/protocol/snapshot.test.ts'],
  },
  {
    name: 'transactions that were in progress are taken for seen',
    file: snapshot,
    find: '[[xmax, highestXid], ...unseen]',
    replace: '[[xmax, highestXid]]',
    tests: ['test/pulls/deltas.test.ts'],
  },
];
