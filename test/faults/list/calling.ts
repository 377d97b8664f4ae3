import type { Fault } from '../fault.js';

const file = 'src/writes/calls.ts';
const claims = 'sql/0001-initial.sql';
const key = 'src/writes/idempotency-key.ts';
const batch = ['test/rest/batch.test.ts'];
const calls = ['test/rest/calls.test.ts'];
const tests = ['test/rest/idempotency.test.ts'];

export const calling: readonly Fault[] = [
  {
    name: 'calls with one key run side by side',
    file: key,
    find: 'if (!locked) {',
    replace: 'if (rows === undefined) {',
    tests,
  },
  {
    name: 'the answer is read without its user',
    file: claims,
    find: 'where user_id = of_user and key = of_key and created_at',
    replace: 'where key = of_key and created_at',
    tests,
  },
  {
    name: 'users with one key wait for one another',
    file: claims,
    find: 'hashtextextended(of_key, hashtextextended(of_user, 7))',
    replace: 'hashtextextended(of_key, 7)',
    tests,
  },
  {
    name: 'a key serves other args',
    file: key,
    find: 'fingerprint !== null && fingerprint !== this.#fingerprint',
    replace: 'fingerprint === ""',
    tests,
  },
  {
    name: 'args in another order are other args',
    file: 'src/protocol/calls.ts',
    find: '.sort(([a], [b]) => (a < b ? -1 : 1))',
    replace: '',
    tests,
  },
  {
    name: 'no answer is kept',
    file,
    find: 'if (key) last(key.keep(answer));',
    replace: '',
    tests,
  },
  {
    name: 'answers are kept for ever',
    file: claims,
    find: 'key = of_key and created_at > now() - make_interval(secs => retention_seconds)',
    replace: 'key = of_key',
    tests,
  },
  {
    name: 'an answer that replaces an old one is as old',
    file: claims,
    find: ', created_at = excluded.created_at',
    replace: '',
    tests,
  },
  {
    name: 'an answer is kept although another transaction has kept one',
    file: claims,
    find: 'where user_id = of_user and key = of_key and created_at',
    replace: 'where user_id = of_user and key = of_key and false and created_at',
    tests,
  },
  {
    name: 'a lock on a key is older than what is read under it',
    file: claims,
    find: 'out answer text\n)\nlanguage plpgsql as',
    replace: 'out answer text\n)\nlanguage plpgsql stable as',
    tests: ['test/store/idempotency-keys.test.ts'],
  },
  {
    name: 'old answers stay in the database',
    file,
    find: 'this.#pruneNowAndThen(log);',
    replace: '',
    tests,
  },
  {
    name: 'a dry run is kept',
    file,
    find: 'if (rollback) await takeBack(transaction, answer);',
    replace: '',
    tests: batch,
  },
  {
    name: 'a dry run does not see what a commit would',
    file,
    find: "await query?.('set constraints all immediate', []);",
    replace: '',
    tests: batch,
  },
  {
    name: 'a dry run takes its key',
    file,
    find: 'if (idempotencyKey !== undefined && !rollback) {',
    replace: 'if (idempotencyKey !== undefined) {',
    tests,
  },
  {
    name: 'a call that the database cannot serve now has failed for good',
    file,
    find: 'return isTransient(error) || error instanceof SetupError;',
    replace: 'return error instanceof SetupError;',
    tests: calls,
  },
  {
    name: 'a mutator’s own error is told to the caller',
    file: 'src/writes/call-failures.ts',
    find: "'The mutator failed; the log has the cause under the request ID'",
    replace: 'String((error as Error)?.message)',
    tests: calls,
  },
  {
    name: 'a batch may be of any length',
    file: 'src/protocol/calls.ts',
    find: 'if (entries.length > MAX_BATCH_LENGTH) {',
    replace: 'if (entries.length < 0) {',
    tests: batch,
  },
  {
    name: 'issues repeat what was sent',
    file: 'src/registry/issues.ts',
    find: 'isFeasible ? withhold(issue.message, texts) : unspecific',
    replace: 'isFeasible ? issue.message : unspecific',
    tests: ['test/registry/issues.test.ts'],
  },
  {
    name: 'the log quotes what Postgres could not take',
    file: 'src/log.ts',
    find: 'message.replace(/".*"/s, \'"…"\')',
    replace: 'message',
    tests: ['test/describe-error.test.ts'],
  },
  {
    name: 'a mutator is given args as they came',
    file: 'src/registry/prepare.ts',
    find: 'mutator.validates ? args : valid',
    replace: 'args',
    tests: calls,
  },
  {
    name: 'a validator beside a mutator that has one takes its place',
    file: 'src/registry/registry.ts',
    find: 'else if (mutator.validator !== undefined)',
    replace: 'else if (name === "")',
    tests: ['test/registry/registry.test.ts'],
  },
  {
    name: 'a validator without a mutator is no matter',
    file: 'src/registry/registry.ts',
    find: 'if (mutator === undefined) faults.push(',
    replace: 'if (mutator === undefined) [].concat(',
    tests: ['test/registry/registry.test.ts'],
  },
];
