import type { Fault } from '../fault.js';

const patches = 'src/store/patches/delta.ts';
const auditor = 'src/pulls/auditor.ts';
const tests = ['test/pulls/audit.test.ts'];
const findings = ['test/pulls/audit.trial.ts'];

export const auditing: readonly Fault[] = [
  {
    name: 'a row that is there for two reasons counts twice',
    file: 'src/store/patches/sides.ts',
    find: 'if (view.keysMayRepeat) return',
    replace: 'if (view.keysMayRepeat && !rows) return',
    tests: ['test/pulls/repeated-keys.test.ts'],
  },
  {
    name: 'a join by an equality is taken to multiply no rows',
    file: 'src/view/analysis/unique-keys.ts',
    find: 'key.every(has)',
    replace: 'key.some(has)',
    tests: ['test/view/unique-keys.test.ts'],
  },
  {
    name: 'a row that is put again counts twice',
    file: patches,
    find: `        where \${isPut} and not (b.tidemark_other is null and \${sides.wasThere()})`,
    replace: `        where \${isPut}`,
    tests,
  },
  {
    name: 'a row that changes leaves its old value',
    file: patches,
    find: ' and b.tidemark_other is not null\n',
    replace: ' and b.tidemark_other is not null and false\n',
    tests,
  },
  {
    name: 'a row that goes is still counted',
    file: patches,
    find: `rowHash('b.tidemark_key', 'b.tidemark_value')} from \${pairs} b where \${isDel}\``,
    replace: `rowHash('b.tidemark_key', 'b.tidemark_value')} from \${pairs} b where false\``,
    tests,
  },
  {
    name: 'nothing is ever compared',
    file: auditor,
    find: "? 'changes' : 'whole'",
    replace: "? 'changes' : 'changes'",
    tests,
  },
  {
    name: 'every delta is compared',
    file: auditor,
    find: "? 'changes' : 'whole'",
    replace: "? 'whole' : 'whole'",
    tests,
  },
  {
    name: 'clients that are not sampled are counted too',
    file: 'src/pulls/pull.ts',
    find: '      isSampled\n',
    replace: '      isSampled || !isSampled\n',
    tests,
  },
  {
    name: 'an audit goes on where audits are off',
    file: auditor,
    find: 'if (this.#fraction === 0) return null;',
    replace: '',
    tests,
  },
  {
    name: 'a client that differs is not reset',
    file: auditor,
    find: 'return { differences };',
    replace: 'return { audit: { deltas: 0, since: snapshot, checksums: whole } };',
    tests: findings,
  },
  {
    name: 'a difference is counted from the last delta on',
    file: auditor,
    find: '{ ...audit, deltas',
    replace: '{ ...audit, since: snapshot, deltas',
    tests: findings,
  },
  {
    name: 'a large patch keeps its connection while it is asked whose rows differ',
    file: 'src/pulls/pull.ts',
    find: '        await more?.close();\n        const { snapshot }',
    replace: '        const { snapshot }',
    tests: findings,
  },
];
