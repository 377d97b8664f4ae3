import type { Fault } from '../fault.js';

const names = 'src/db/poolers/named-statements.ts';
const statements = ['test/poolers/statements.test.ts'];
const failures = ['test/poolers/failures.test.ts'];
const service = ['test/poolers/service.test.ts'];

export const pooling: readonly Fault[] = [
  {
    name: 'a name is the same for every text',
    file: names,
    find: 'this.#digestOf(text)',
    replace: 'this.#digestOf(name)',
    tests: statements,
  },
  {
    name: 'that names are of no use is not remembered',
    file: names,
    find: 'this.#areKnown = false;',
    replace: '',
    tests: statements,
  },
  {
    name: 'a name that is of no use fails the statement',
    file: names,
    find: 'if (!isOfStatementName(error)) return isStalePlan(error);',
    replace: 'return isStalePlan(error);',
    tests: statements,
  },
  {
    name: 'a name that is of no use costs the connection',
    file: 'src/db/pg.ts',
    find: 'sound = name !== undefined && isOfStatementName(error) && !endsConnection(error);',
    replace: 'sound = false;',
    tests: statements,
  },
  {
    name: 'a connection is closed before its statement is cancelled',
    file: 'src/db/checkout.ts',
    find: 'if (cancelled === undefined) giveBack();',
    replace: 'if (true) giveBack();',
    tests: statements,
  },
  {
    name: 'a mutator’s statements are prepared under the names that it gives',
    file: 'src/writes/client/mutator-client.ts',
    find: 'send(this.own, withoutName(args),',
    replace: 'send(this.own, args,',
    tests: ['test/poolers/mutators.test.ts'],
  },
  {
    name: 'what a mutator leaves in a session stays behind the pooler',
    file: 'src/db/transact.ts',
    find: 'const after = () => (discarded ? endOfSession : []);',
    replace: 'const after = () => (discarded ? endOfSession.slice(0, 0) : []);',
    tests: ['test/poolers/mutators.test.ts'],
  },
  {
    name: 'what a pooler refuses for good is waited for',
    file: 'src/db/reachable.ts',
    find: 'error instanceof SetupError || error instanceof NotConnectedError',
    replace: 'error instanceof NotConnectedError',
    tests: failures,
  },
  {
    name: 'a pooler that has no transactions is found out by the first push',
    file: 'src/databases.ts',
    find: 'await db.atOneMoment(async () => {});',
    replace: '',
    tests: failures,
  },
  {
    name: 'nobody says that notifications do not arrive',
    file: 'src/db/listen.ts',
    find: '      onDeaf();\n',
    replace: '',
    tests: service,
  },
  {
    name: 'a connection notifies itself for a trial',
    file: 'src/db/listen.ts',
    find: "await pool.query('select pg_notify($1, $2)'",
    replace: "await listening.client.query('select pg_notify($1, $2)'",
    tests: service,
  },
];
