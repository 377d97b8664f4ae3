/**
 * The effect of `DISCARD ALL`, as statements that can follow a COMMIT or a ROLLBACK in the same message. Closing a
 * connection to a pooler does not reset the session behind it, and a later message may reach another session.
 *
 * Statements that were prepared through the protocol stay, because the pooler may rely on them.
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
