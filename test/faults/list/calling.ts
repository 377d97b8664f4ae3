import type { Fault } from '../fault.js';

const file = 'src/writes/calls.ts';
const store = 'src/store/idempotency-keys.ts';
const key = 'src/writes/idempotency-key.ts';
const batch = ['test/rest/batch.test.ts'];
const calls = ['test/rest/calls.test.ts'];
const tests = ['test/rest/idempotency.test.ts'];

export const calling: readonly Fault[] = [
  {
    name: 'calls with one key run side by side',
    file: key,
    find: 'if (!(await lockKey(query, this.#ref))) {',
    replace: 'if (query === undefined) {',
    tests,
  },
  {
    name: 'the answer is read without its user',
    file: store,
    find: 'where user_id = $1 and key = $2 and created_at',
    replace: 'where $1::text is not null and key = $2 and created_at',
    tests,
  },
  {
    name: 'users with one key wait for one another',
    file: store,
    find: 'hashtextextended($2, hashtextextended($1, 7))',
    replace: 'hashtextextended($2, hashtextextended(left($1, 0), 7))',
    tests,
  },
  {
    name: 'a key serves other args',
    file: key,
    find: 'found !== undefined && found.fingerprint !== this.#fingerprint',
    replace: 'found !== undefined && found.fingerprint === ""',
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
    find: 'await key?.keep(transaction, answer);',
    replace: '',
    tests,
  },
  {
    name: 'answers are kept for ever',
    file: store,
    find: 'key = $2 and created_at > now() - make_interval(secs => $3::float8)',
    replace: 'key = $2 and $3::float8 is not null',
    tests,
  },
  {
    name: 'an answer that replaces an old one is as old',
    file: store,
    find: ', created_at = excluded.created_at',
    replace: '',
    tests,
  },
  {
    name: 'an answer is kept although another transaction has kept one',
    file: store,
    find: 'where user_id = $1 and key = $2 and created_at',
    replace: 'where user_id = $1 and key = $2 and false and created_at',
    tests,
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
    find: 'isTooMuch ? unspecific : withhold(issue.message, texts)',
    replace: 'isTooMuch ? unspecific : issue.message',
    tests: ['test/registry/issues.test.ts'],
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
