/** The moments from which the layouts of tables can be told apart. */

/** What a primary showed before its tables were read. */
export interface Moment {
  readonly snapshot: string;
  /** When the database server was started. */
  readonly started: string;
}

/** As a column: the moment; null if this role cannot record layouts, or not on this server. */
export const momentSql: string = `
  case when not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean
      and has_table_privilege('tidemark.layout', 'insert') and has_table_privilege('tidemark.layout', 'delete')
    then json_build_object('snapshot', pg_current_snapshot()::text, 'started', tidemark.started())
  end as moment`;
