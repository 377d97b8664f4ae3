/** Read points, which say as of which snapshots a table had a row format. */

/** The state of a primary just before a server read the schema of its tables. */
export interface ReadPoint {
  readonly snapshot: string;
  /** When the database server started. */
  readonly serverStart: string;
}

/** SQL for a column: the read point; null if the role cannot record row formats, or if the database is read-only. */
export const readPointSql: string = `
  case when not pg_is_in_recovery() and not current_setting('transaction_read_only')::boolean
      and has_table_privilege('tidemark.row_format', 'insert') and has_table_privilege('tidemark.row_format', 'delete')
    then json_build_object('snapshot', pg_current_snapshot()::text, 'serverStart', tidemark.server_start())
  end as "readPoint"`;
