import type { Fault } from '../fault.js';

const file = 'src/store/retention.ts';
const tests = ['test/store/retention.test.ts'];

export const retention: readonly Fault[] = [
  {
    name: 'the changes of the transaction at the horizon are forgotten',
    file,
    find: 'and xid < (select horizon',
    replace: 'and xid <= (select horizon',
    tests,
  },
  {
    name: 'a tick that notes the end of the snapshot in place of its beginning',
    file,
    find: 'values (pg_snapshot_xmin(',
    replace: 'values (pg_snapshot_xmax(',
    tests,
  },
];
