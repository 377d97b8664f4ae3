import type { Fault } from '../fault.js';

const file = 'src/pokes/plan-pokes.ts';
const tests = ['test/pokes/plan-pokes.test.ts'];

export const poking: readonly Fault[] = [
  {
    name: 'a TRUNCATE is asked about',
    file,
    find: 'if (changed.some(({ truncated }) => truncated)) return [];',
    replace: '',
    tests,
  },
  {
    name: 'several transactions are judged by what is left of them',
    file,
    find: 'changed.every(({ xid }) => xid !== null && xid === changed[0]!.xid)',
    replace: 'changed.every(({ xid }) => xid !== null)',
    tests,
  },
  {
    name: 'a group’s mutations poke whoever names the group',
    file,
    find: 'owners.get(clientGroupID) === userID',
    replace: 'owners.has(clientGroupID) || userID === ""',
    tests,
  },
  {
    name: 'as much is asked as there is',
    file,
    find: '.length === mostQuestions',
    replace: '.length < 0',
    tests,
  },
];
