import pg, { type ClientBase } from 'pg';

/** The properties of a driver's connection that its types omit. */
interface ConnectedClient {
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: number;
}

/** The time limit of a cancel request, in milliseconds. */
const timeoutMs = 2_000;

/** A connection that has not authenticated. */
interface Unauthenticated extends pg.Connection {
  connect(port: number | string, host?: string): void;
  cancel(processID: number, secretKey: number): void;
}

/**
 * Has Postgres cancel the statement that a connection runs. While Postgres sorts, scans or waits, it does not detect
 * that the client no longer needs the result. The request uses no connection of the pool, because all of those may be
 * busy. It may arrive late, so nothing else may run on the connection afterwards.
 *
 * Resolves when the request has arrived, or cannot arrive. Keep the connection open until then: a pooler that sees it
 * close can no longer route the request, and the statement would continue.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export async function cancelStatement(client: ClientBase): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as ConnectedClient;
  if (processID === null) return;
  const connection = new pg.Connection() as Unauthenticated;
  const arrived = new Promise<void>((resolve) => {
    // If the request does not arrive, the statement runs to its end.
    const timer = setTimeout(() => connection.stream.destroy(), timeoutMs);
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
