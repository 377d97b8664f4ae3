import type { ClientBase, Pool } from 'pg';

/**
 * Has Postgres cancel the statement that a connection runs. On its own, Postgres does not notice that nobody is waiting
 * for the answer any more while it sorts, scans or waits.
 */
export function cancelStatement(pool: Pool, client: ClientBase): void {
  const backend = 'processID' in client && typeof client.processID === 'number' ? client.processID : undefined;
  if (backend === undefined || pool.ending) return;
  pool.query('select pg_cancel_backend($1)', [backend]).catch(() => {});
}
