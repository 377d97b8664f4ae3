import { SetupError } from '../../errors.js';
import { codeOf } from '../sqlstate.js';

/** Errors of poolers that result from how they, or their clients, are configured. Waiting does not help. */
const refusals: readonly (readonly [refusal: RegExp, advice: string])[] = [
  [
    /unsupported startup parameter/,
    'Leave it out of the connection string and of the options of the pool, or name it in the `ignore_startup_parameters` of pgbouncer',
  ],
  [
    /not allowed in statement pooling mode/,
    'Tidemark needs transactions: have the pooler work by transaction or by session, as with `pool_mode = transaction`',
  ],
  [
    /authentication failed|auth failed|no such user/,
    'Check the user and the password, and whether the pooler knows them',
  ],
  [
    /^(no such database|database ".*" does not exist)/,
    'Check the name of the database, and whether the pooler knows it',
  ],
];

/** Returns an error with advice for a pooler's permanent refusal; returns any other error unchanged. */
export function explainPooler(error: unknown): unknown {
  // Postgres itself uses other codes for these errors.
  if (codeOf(error) !== '08P01' || !(error instanceof Error)) return error;
  const { message } = error;
  const advice = refusals.find(([refusal]) => refusal.test(message))?.[1];
  if (advice === undefined) return error;
  return new SetupError(`The pooler in front of Postgres refuses the connection: ${message}. ${advice}.`, {
    cause: error,
  });
}

/** @throws the error that `explainPooler` returns. */
export function failExplained(error: unknown): never {
  throw explainPooler(error);
}
