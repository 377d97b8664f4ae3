/** Mutators that fail in every permanent and every transient way. */

const raise = (state) => `do $$ begin raise exception 'told to fail' using errcode = '${state}'; end $$`;

/** Failures at every attempt. The keys are the kinds. */
const permanent = {
  'an error': () => {
    throw new Error('the mutator is wrong');
  },
  'a refusal': (_, { MutatorError }) => {
    throw new MutatorError('The mutator refuses');
  },
  'a text that is thrown': () => {
    throw 'a text';
  },
  'nothing that is thrown': () => {
    throw undefined;
  },
  'a broken promise': () => Promise.reject(new TypeError('the promise is broken')),
  'a row that is there': (tx) => tx.query('insert into guarded values (1, 1, null)'),
  'a value that is not allowed': (tx) => tx.query('insert into guarded values (2, -1, null)'),
  'a row that is not there': (tx) => tx.query('insert into guarded values (3, 1, 99)'),
  'a value that is missing': (tx) => tx.query('insert into guarded values (4, null, null)'),
  'a constraint at the commit': (tx) => tx.query('insert into guarded_late values (1), (1)'),
  'a division by zero': (tx) => tx.query('select 1 / (select 0)'),
  'no SQL': (tx) => tx.query('selct 1'),
  'a table that is not there': (tx) => tx.query('select from nowhere'),
};

/** Failures that end after two attempts. */
const transient = {
  'a conflict': (tx) => tx.query(raise('40001')),
  'a deadlock': (tx) => tx.query(raise('40P01')),
  'a lock that is not granted': (tx) => tx.query(raise('55P03')),
  'a lost connection': (tx) => tx.query('select pg_terminate_backend(pg_backend_pid())'),
  'a cancelled statement': (tx) => tx.query('select pg_cancel_backend(pg_backend_pid()), pg_sleep(1)'),
  'a shutdown': (tx) => tx.query(raise('57P01')),
  'too many connections': (tx) => tx.query(raise('53300')),
  'a full disk': (tx) => tx.query(raise('53100')),
  'a database that became a standby': (tx) => tx.query(raise('25006')),
  'a failure of the connection': (tx) => tx.query(raise('08006')),
  'an error of the system': (tx) => tx.query(raise('58030')),
  'a host that refuses': () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  },
};

export const kinds = { permanent: Object.keys(permanent), transient: Object.keys(transient) };

/** The mutators `fail.permanent` and `fail.transient`, which write first, and then fail as their args say. */
export function failing({ count, defineMutator, MutatorError }) {
  const tries = new Map();
  return {
    fail: {
      permanent: defineMutator(async ({ tx, args: { clientID, n, kind }, ctx }) => {
        await count(tx, clientID, n, ctx);
        await permanent[kind](tx, { MutatorError });
      }),
      transient: defineMutator(async ({ tx, args: { clientID, n, kind }, ctx }) => {
        await count(tx, clientID, n, ctx);
        const tried = tries.get(clientID) ?? 0;
        tries.set(clientID, tried + 1);
        if (tried < 2) await transient[kind](tx);
      }),
    },
  };
}
