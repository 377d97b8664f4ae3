import type { Fault } from '../fault.js';

const file = 'src/db/transact.ts';
const pg = ['test/db/pg.test.ts'];
const push = ['test/writes/push.test.ts'];
const failures = ['test/writes/push-failures.test.ts'];
const sessions = ['test/writes/sessions.test.ts'];
const states = ['test/db/sqlstate.test.ts'];

export const transactions: readonly Fault[] = [
  {
    name: 'each statement sees a snapshot of its own',
    file,
    find: 'begin isolation level repeatable read',
    replace: 'begin isolation level read committed',
    tests: pg,
  },
  {
    name: 'a commit that was a rollback counts as a commit',
    file,
    find: "command === 'ROLLBACK')",
    replace: "command === 'ABORT')",
    tests: failures,
  },
  {
    name: 'a transaction that its work has ended counts as committed',
    file,
    find: "if (client.getTransactionStatus() === 'I') {",
    replace: "if (client.getTransactionStatus() === 'X') {",
    tests: pg,
  },
  {
    name: 'a swallowed serialization failure is not tried again',
    file,
    find: 'return isRetryable(error) || error instanceof SwallowedError;',
    replace: 'return isRetryable(error);',
    tests: failures,
  },
  {
    name: 'a failure that was hidden is for good where an answer is to be kept',
    file,
    find: 'throw isOfFailedTransaction(cause) ? new SwallowedError({ cause }) : cause;',
    replace: 'throw cause;',
    tests: pg,
  },
  {
    name: 'a connection that is not as it was goes to the next user',
    file,
    find: 'checkout.release(!sound || discarded);',
    replace: 'checkout.release(!sound);',
    tests: sessions,
  },
  {
    name: 'conflicts are tried twice, and no more',
    file,
    find: 'return await inTurn(() => retry(attempt, QUEUED_ATTEMPTS));',
    replace: 'throw error;',
    tests: push,
  },
  {
    name: 'what was to be sent with the COMMIT is lost',
    file,
    find: '...last.map(inline), ',
    replace: '',
    tests: ['test/rest/idempotency.test.ts'],
  },
  {
    name: 'a transaction whose work has failed is left open',
    file,
    find: "await together(client, 'rollback', ...after);",
    replace: '',
    tests: pg,
  },
  {
    name: 'a connection that was lost unnoticed is the work’s failure',
    file,
    find: 'if (lost === undefined || ',
    replace: 'if (lost !== undefined || ',
    tests: failures,
  },
  {
    name: 'a killed backend ends the process',
    file: 'src/db/checkout.ts',
    find: "client.on('error', onError);",
    replace: '',
    tests: pg,
  },
  {
    name: 'a plan that no longer fits is an error',
    file: 'src/db/pg.ts',
    find: 'if (name === undefined || !',
    replace: 'if (error !== name || !',
    tests: pg,
  },
  {
    name: 'deadlocks are not tried again',
    file: 'src/db/sqlstate.ts',
    find: "new Set(['40001', '40P01'])",
    replace: "new Set(['40001'])",
    tests: states,
  },
  {
    name: 'an operator’s intervention counts as a failure for good',
    file: 'src/db/sqlstate.ts',
    find: "'53', '57', '58'",
    replace: "'53', '58'",
    tests: states,
  },
  {
    name: 'a deferred constraint that does not hold counts as passing',
    file: 'src/db/sqlstate.ts',
    find: 'code !== INTEGRITY_VIOLATION_AT_COMMIT && ',
    replace: '',
    tests: failures,
  },
  {
    name: 'wrapped failures are not recognised',
    file: 'src/db/sqlstate.ts',
    find: 'cause = causeOf(cause);',
    replace: 'cause = undefined;',
    tests: failures,
  },
  {
    name: "what the database answered is not found in Prisma's errors",
    file: 'src/db/sqlstate.ts',
    find: "read(error, 'cause') ?? read(read(error, 'meta'), 'driverAdapterError')",
    replace: "read(error, 'cause')",
    tests: states,
  },
  {
    name: 'a mutation that a transient failure has stopped is skipped',
    file: 'src/writes/mutate.ts',
    find: 'if (!claimed || isTransient(error)) throw error;',
    replace: 'if (!claimed) throw error;',
    tests: failures,
  },
  {
    name: 'a row that a concurrent mutation has inserted is a failure for good',
    file: 'src/writes/mutate.ts',
    find: 'if (attempt > 1 || !isUniquenessViolation(error))',
    replace: 'if (attempt > 0 || !isUniquenessViolation(error))',
    tests: failures,
  },
];
