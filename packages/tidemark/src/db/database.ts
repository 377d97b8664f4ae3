import type { ClientBase, PoolClient } from 'pg';

/** One SQL statement. */
export interface Statement {
  readonly text: string;
  /** Always sent as parameters. */
  readonly values?: readonly unknown[] | undefined;
  /** The kind of statement, and the name to prepare it under, so that Postgres keeps its plan per connection. */
  readonly name?: string | undefined;
  /** True if it only calls a function with its own settings: it needs no planning, and goes without `OwnQuery`. */
  readonly isCall?: boolean | undefined;
  /** The maximum time to wait for the answer, in milliseconds. After that, the connection is closed. */
  readonly timeoutMs?: number | undefined;
  /** Aborts when the answer is no longer needed. The connection is then closed. */
  readonly signal?: AbortSignal | undefined;
}

/** The first statement of a transaction that must see what others commit while it waits for them. */
export const readCommitted = 'set transaction isolation level read committed';

/** Statements of a transaction that need no round trip of their own. */
export interface Edges {
  /** The rows of each statement that was sent with the BEGIN. */
  readonly first: readonly (readonly unknown[])[];
  /** The statements to send with the COMMIT if the work succeeds. The work adds them. */
  readonly last: Statement[];
}

/** The edges of a transaction that this process runs on its own connection. */
export interface OwnEdges extends Edges {
  /** Set by the work to end the session and its connection, so that no other work sees the session's state. */
  discard: boolean;
}

/** A column of a result, with the OID of its type. */
export interface ResultColumn {
  readonly name: string;
  readonly typeOID: number;
  /** The table column that it shows, by OID and number; undefined for an expression. */
  readonly origin?: { readonly table: number; readonly column: number } | undefined;
}

/** The kind of a type: an array, JSON, or anything else. A domain counts as its base type. */
export type ParameterKind = 'array' | 'json' | 'other';

/** Postgres's description of a query, obtained without running it. */
export interface QueryDescription {
  /** The kinds of the values that `$1…$n` take, in order. */
  readonly parameterKinds: readonly ParameterKind[];
  /**
   * The types of `$1…$n` in order, as qualified names. They are not keywords such as `character`, which would mean a
   * length of one.
   */
  readonly parameterTypes: readonly string[];
  /** The query after Postgres's analysis: the text of a `Query` node, as `debug_print_parse` writes it. */
  readonly tree: string;
  /** The number of bytes before the query in the text to which the locations in `tree` refer. */
  readonly offset: number;
}

/** Everything that the rest of Tidemark needs from Postgres. Only this adapter depends on the driver. */
export interface Database {
  /** The host and port, for logs and metrics. */
  readonly name: string;
  /** The maximum number of open connections. */
  readonly connections: number;

  /** The numbers of open connections, of idle ones, and of requests that wait for one. */
  usage(): { readonly total: number; readonly idle: number; readonly waiting: number };

  /** Runs one statement outside a transaction. */
  query<Row>(statement: Statement): Promise<Row[]>;

  /**
   * Describes a SELECT without planning or running it. The text must not end in a semicolon.
   * @param types the types of its parameters, if known
   */
  describe(text: string, types?: readonly string[]): Promise<QueryDescription>;

  /** Describes the columns of a SELECT's result without planning or running it. */
  columns(text: string): Promise<ResultColumn[]>;

  /**
   * Runs `text`, a `copy … to stdout` statement, and yields its bytes as they arrive, with backpressure. Leaving the
   * loop early closes the connection, which an abandoned COPY would block.
   * @param signal aborts when the bytes are no longer needed
   */
  copy(text: string, signal?: AbortSignal): AsyncIterable<Uint8Array>;

  /**
   * Runs `work` in a REPEATABLE READ transaction and commits it; rolls back if `work` throws. Retries after
   * serialization failures and deadlocks, a bounded number of times and with jitter, so `work` may run more than once.
   * @param first statements to send with the BEGIN. If one fails, the transaction fails and `work` does not run.
   */
  transact<T>(work: (client: PoolClient, edges: OwnEdges) => Promise<T>, first?: readonly Statement[]): Promise<T>;

  /**
   * Runs `work` with a `query` function whose statements all read the snapshot of the first one. Cancels a statement
   * that takes longer than its `timeoutMs`. If a statement fails, later ones still work.
   */
  inSnapshot<T>(work: (query: Database['query']) => Promise<T>): Promise<T>;

  /**
   * Calls `onNotice` for each notification without a payload on a channel, and each time its connection is established,
   * because earlier notifications may have been missed. Holds one connection. Returns a function that stops listening.
   * @param onUndelivered called if not even a test notification arrives; the connection is then released
   */
  listen(channel: string, onNotice: () => void, onUndelivered: () => void): () => void;

  /** Closes the connections, unless they belong to the application's own pool. */
  close(): Promise<void>;
}

/** Returns a function that runs statements one by one in a client's transaction. */
export function queryOf(client: ClientBase): Database['query'] {
  return async <Row>({ text, values = [] }: Statement) => (await client.query(text, [...values])).rows as Row[];
}
