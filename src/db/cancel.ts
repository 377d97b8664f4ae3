import type { ClientBase, Pool } from 'pg';

/**
 * Has Postgres stop what a connection runs: it does not notice that nobody waits for the answer any more while it
 * sorts, scans or waits itself.
 */
export function cancelStatement(pool: Pool, client: ClientBase): void {
  const backend = 'processID' in client && typeof client.processID === 'number' ? client.processID : undefined;
  if (backend === undefined || pool.ending) return;
  pool.query('select pg_cancel_backend($1)', [backend]).catch(() => {});
}
