import type { Fault } from '../fault.js';

const file = 'src/pulls/pull.ts';
const digests = 'src/installation/digests.ts';
const queryKeys = 'src/installation/query-keys.ts';
const bound = ['test/installation/current-installation.test.ts'];
const compile = 'src/view/compile/compile.ts';
const look = 'sql/0001-initial.sql';
const header = 'src/store/header.ts';
const plan = 'src/pulls/plan.ts';
const sizes = ['test/pulls/delta-size.test.ts'];
const wire = ['test/conformance/pull-wire.test.ts'];
const cookies = ['test/conformance/pull-cookies.test.ts'];
const shared = ['test/pulls/shared-pulls.test.ts'];
const histories = ['test/pulls/histories.trial.ts'];
const otherViews = ['test/pulls/other-views.test.ts'];
const planned = ['test/pulls/plan.test.ts'];

export const pulling: readonly Fault[] = [
  {
    name: 'the owner is not looked at in the probe',
    file,
    find: 'let plan = this.#plan(cookie, header)',
    replace: 'let plan = this.#plan(cookie, { ...header, owner: null })',
    tests: wire,
  },
  {
    name: 'the owner is not looked at again in the delta',
    file,
    find: 'const actual = this.#plan(cookie, header)',
    replace: 'const actual = this.#plan(cookie, { ...header, owner: null })',
    tests: shared,
  },
  {
    name: 'the owner is not looked at in a first pull',
    file,
    find: 'plan = this.#plan(cookie, answered)',
    replace: 'plan = this.#plan(cookie, { ...answered, owner: null })',
    tests: wire,
  },
  {
    name: 'a client is reset after a bulk change, however much it holds',
    file: 'src/pulls/plan.ts',
    find: 'rows: rowsPerKey * keys',
    replace: 'rows: 1_000_000_000',
    tests: sizes,
  },
  {
    name: 'a row that is changed many times counts as many',
    file: 'sql/0001-initial.sql',
    find: 'group by l.table_id, l.key',
    replace: 'group by l.table_id, l.key, random()',
    tests: sizes,
  },
  {
    name: 'nobody looks at what it takes to read all rows',
    file: 'src/store/sizes.ts',
    find: '> limit.cost) return false;',
    replace: '< 0) return false;',
    tests: sizes,
  },
  {
    name: 'only the first of many changes are counted',
    file: 'src/pulls/delta-size.ts',
    find: "if (isWhole) return 'long';",
    replace: "if (count > 0) return 'long';",
    tests: sizes,
  },
  {
    name: 'a pull is not tried again after a deadlock',
    file: 'src/pulls/patch-stream.ts',
    find: 'const maxAttempts = 3;',
    replace: 'const maxAttempts = 1;',
    tests: ['test/pulls/deadlocks.test.ts'],
  },
  {
    name: 'a user’s cookie serves others who see the same',
    file: digests,
    find: 'digest([shape, userID, ',
    replace: 'digest([shape, ',
    tests: cookies,
  },
  {
    name: 'a cookie serves other parameters of the views',
    file: digests,
    find: '[view.digest, ...literals])]',
    replace: '[view.digest])]',
    tests: otherViews,
  },
  {
    name: 'a cookie outlives a change of the tables’ shape',
    file: digests,
    find: 'digest([shape, userID, ',
    replace: 'digest([userID, ',
    tests: ['test/pulls/no-silent-gap.test.ts'],
  },
  {
    name: 'bound views serve other parameters',
    file: queryKeys,
    find: 'this.#nameOf(text), values, key, prefix);',
    replace: 'this.#nameOf(text), key, prefix);',
    tests: bound,
  },
  {
    name: 'bound views serve other prefixes',
    file: queryKeys,
    find: 'values, key, prefix);',
    replace: 'values, key);',
    tests: bound,
  },
  {
    name: 'bound views serve other users',
    file: queryKeys,
    find: 'const parts: unknown[] = [userID];',
    replace: 'const parts: unknown[] = [userID.length];',
    tests: bound,
  },
  {
    name: 'bound views serve values that JSON writes alike',
    file: queryKeys,
    find: 'if (!values.every(isPlain)) return undefined;',
    replace: '',
    tests: bound,
  },
  {
    name: 'a cookie outlives another key',
    file: compile,
    find: '...naming.key, analysis.text',
    replace: 'analysis.text',
    tests: otherViews,
  },
  {
    name: 'a cookie outlives another prefix',
    file: compile,
    find: "naming.name, prefix ?? '', ...naming.key",
    replace: 'naming.name, ...naming.key',
    tests: otherViews,
  },
  {
    name: 'a history without ticks is taken for the cookie’s',
    file: look,
    find: 'is distinct from newest.id',
    replace: '<> newest.id',
    tests: histories,
  },
  {
    name: 'only the newest tick is a witness',
    file: look,
    find: 'and not exists (\n    select from tidemark.tick where id = named_tick\n  )',
    replace: '',
    tests: histories,
  },
  {
    name: 'a client that the group does not have is known',
    file: header,
    find: 'clientID === undefined || clients.some(([id]) => id === clientID)',
    replace: 'true',
    tests: wire,
  },
  {
    name: 'a TRUNCATE resets those who do not read the table',
    file: look,
    find: 'on key is null and table_id = any (tables) and xid',
    replace: 'on key is null and xid',
    tests: ['test/pulls/truncate.test.ts'],
  },
  {
    name: 'a TRUNCATE resets nobody',
    file: plan,
    find: "if (header.truncated) return { kind: 'reset', reason: 'truncate' };",
    replace: '',
    tests: planned,
  },
  {
    name: 'another group is told only which mutation IDs have moved',
    file: header,
    find: '!base || !sameGroup || ',
    replace: '!base || ',
    tests: shared,
  },
  {
    name: 'the mutation IDs of all groups are told',
    file: look,
    find: 'where c.client_group_id = asked.id',
    replace: 'where asked.id is not null',
    tests: wire,
  },
  {
    name: 'rows of a table that was emptied meanwhile are answered',
    file,
    find: 'if (patch.report.torn) throw new OutdatedError();',
    replace: '',
    tests: ['test/pulls/torn-reads.trial.ts'],
  },
  {
    name: 'a delta of a table that was emptied meanwhile is answered',
    file,
    find: 'if (torn) throw new OutdatedError(header);',
    replace: '',
    tests: ['test/pulls/torn-reads.trial.ts'],
  },
  {
    name: 'changes of a table beyond those in the probe are lost',
    file,
    find: '!covers({ kind: ',
    replace: 'false && !covers({ kind: ',
    tests: shared,
  },
  {
    name: 'a delta covers what it has a part of',
    file: plan,
    find: 'actual.tables.every(',
    replace: 'actual.tables.some(',
    tests: planned,
  },
  {
    name: 'a delta that the database cannot serve now resets the client',
    file,
    find: `if (error instanceof Problem || isTransient(error)) throw error;
      if (isOfLayouts`,
    replace: 'if (isOfLayouts',
    tests: shared,
  },
  {
    name: 'a delta that fails for good is an error that is met for ever',
    file,
    find: "return { plan: { kind: 'reset', reason: 'failure' }, header: asked };",
    replace: 'throw error;',
    tests: shared,
  },
  {
    name: 'a cookie of other views is as good',
    file: plan,
    find: 'if (cookie.views !== views)',
    replace: "if (cookie.views === '')",
    tests: planned,
  },
  {
    name: 'a cookie of another epoch is as good',
    file: plan,
    find: "cookie.epoch === epoch ? relationOf(cookie, header) : 'other'",
    replace: 'relationOf(cookie, header)',
    tests: planned,
  },
  {
    name: 'a cookie behind the horizon is as good',
    file: plan,
    find: 'if (cookie.parsedSnapshot.xmin < header.horizon)',
    replace: 'if (cookie.parsedSnapshot.xmax < BigInt(header.horizon))',
    tests: planned,
  },
  {
    name: 'a database behind the cookie has nothing new',
    file: plan,
    find: "if (relation === 'future') return { kind: 'reset', reason: 'future' };",
    replace: "if (relation === 'future') return { kind: 'unchanged' };",
    tests: planned,
  },
  {
    name: 'a database that has lost mutations tells lower IDs',
    file: plan,
    find: 'header.mutations < cookie.mutations',
    replace: 'header.mutations < 0',
    tests: planned,
  },
];
