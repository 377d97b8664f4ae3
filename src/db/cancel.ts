import pg, { type ClientBase } from 'pg';

/** What the driver knows of a connection; its types do not say. */
interface Connected {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number;
}

/** How long the request may take, in milliseconds. */
const longestMs = 2_000;

/** A connection that is not logged in. */
interface Unauthenticated extends pg.Connection {
  connect(port: number | string, host?: string): void;
  cancel(processID: number, secretKey: number): void;
}

/**
 * Has Postgres cancel the statement that a connection runs. On its own, Postgres does not notice that nobody is waiting
 * for the answer any more while it sorts, scans or waits. The request takes no connection of the pool: all of those may
 * be waiting. It may arrive late, so the connection must not be used for anything else.
 *
 * Resolves when the request has arrived, or cannot. Until then, the connection must not be closed: a pooler would not
 * know any more what the request is about, and the statement would go on.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export async function cancelStatement(client: ClientBase): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as Connected;
  if (processID === null) return;
  const connection = new pg.Connection() as Unauthenticated;
  const arrived = new Promise<void>((resolve) => {
    // If the request does not arrive, the statement goes on to its own end.
    const timer = setTimeout(() => connection.stream.destroy(), longestMs);
    connection.on('error', () => {});
    connection.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  connection.once('connect', () => connection.cancel(processID, secretKey));
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  await arrived;
}
