/**
 * Lifts the limits of time that the role, the database or the connection sets, for the rest of the transaction: for work
 * that has limits of its own. Postgres has `transaction_timeout` from 17 on.
 */
export const liftTimeLimits =
  "select set_config(name, '0', true) from unnest(array['statement_timeout', 'transaction_timeout']) name " +
  'where current_setting(name, true) is not null';
