/**
 * What `DISCARD ALL` does, in statements that may follow a COMMIT or a ROLLBACK in the same message. Closing a
 * connection to a pooler leaves the session behind it as it is, and anything sent later may reach another session.
 *
 * Statements that were prepared by the protocol stay: the pooler may count on them.
 */
export const endOfSession: readonly string[] = [
  'close all',
  'set session authorization default',
  'reset all',
  `do $$
  declare
    prepared text;
  begin
    for prepared in select name from pg_catalog.pg_prepared_statements where from_sql loop
      execute pg_catalog.format('deallocate %I', prepared);
    end loop;
  end $$`,
  'unlisten *',
  'select pg_catalog.pg_advisory_unlock_all()',
  'discard temp',
  'discard sequences',
];
