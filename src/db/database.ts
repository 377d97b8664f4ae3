import type { ClientBase, PoolClient } from 'pg';

/** One SQL statement. */
export interface Statement {
  readonly text: string;
  /** Always sent as parameters. */
  readonly values?: readonly unknown[] | undefined;
  /** Prepares the statement, so that the server keeps its plan for each connection. Says what kind of statement it is. */
  readonly name?: string | undefined;
  /** Is planned at no cost, for it only calls a function that has settings of its own. It goes without `OwnQuery`. */
  readonly isCall?: boolean | undefined;
  /** Gives up after this many milliseconds without an answer, and closes the connection. */
  readonly timeoutMs?: number | undefined;
  /** Gives up when nobody waits for the answer any more, and closes the connection. */
  readonly signal?: AbortSignal | undefined;
}

/** A transaction's first statement, if it is to see what others have committed while it waited for them. */
export const readCommitted = 'set transaction isolation level read committed';

/** The statements of a transaction that cost no round trip of their own. */
export interface Edges {
  /** The rows of each statement that was sent with the BEGIN. */
  readonly first: readonly (readonly unknown[])[];
  /** Has statements sent with the COMMIT, if the work succeeds. */
  readonly last: (...statements: readonly Statement[]) => void;
}

/** The edges of a transaction of this process's own. */
export interface OwnEdges extends Edges {
  /** Has the session ended with the transaction, and the connection closed, so that nothing else finds what is left. */
  readonly discard: () => void;
}

/** A column of a result; the type is Postgres's OID. */
export interface ResultColumn {
  readonly name: string;
  readonly typeOID: number;
  /** The table's column that it shows, by OID and number; undefined if it is an expression. */
  readonly source?: { readonly table: number; readonly column: number } | undefined;
}

/** An array, JSON, or anything else; a domain is as its base type. */
export type ParameterForm = 'array' | 'json' | 'other';

/** What Postgres says about a query without running it. */
export interface QueryDescription {
  /** The forms of the values that `$1…$n` take, in order. */
  readonly parameterForms: readonly ParameterForm[];
  /**
   * The types of `$1…$n` in order, as qualified names. Not as keywords such as `character`, which would mean a length
   * of one.
   */
  readonly parameterTypes: readonly string[];
  /** The query as Postgres understood it: the text of a `Query` node, as `debug_print_parse` writes it. */
  readonly tree: string;
  /** How many bytes precede the query in the text to which the locations in `tree` refer. */
  readonly offset: number;
}

/** All that the rest of Tidemark needs of Postgres. Only this adapter knows the driver. */
export interface Database {
  /** Its host and port, for logs and metrics. */
  readonly name: string;
  /** The most connections that are open at once. */
  readonly connections: number;

  /** How many connections are open and idle, and how much work waits for one. */
  usage(): { readonly total: number; readonly idle: number; readonly waiting: number };

  /** Runs one statement outside a transaction. */
  query<Row>(statement: Statement): Promise<Row[]>;

  /**
   * Describes a SELECT without planning or running it. The text must not end in a semicolon.
   * @param types those of its parameters, if they are known
   */
  describe(text: string, types?: readonly string[]): Promise<QueryDescription>;

  /** The columns of a SELECT's result, without planning or running it. */
  columns(text: string): Promise<ResultColumn[]>;

  /**
   * Runs `text`, a `copy … to stdout` statement, and yields its bytes as they arrive, with backpressure.
   * Leaving the loop early closes the connection, which an abandoned COPY would block.
   * @param signal aborts when nobody waits for the bytes any more
   */
  copy(text: string, signal?: AbortSignal): AsyncIterable<Uint8Array>;

  /**
   * Runs `work` in a REPEATABLE READ transaction and commits it; rolls back if `work` throws. Retries after
   * serialization failures and deadlocks, a bounded number of times and with jitter, so `work` may run more than once.
   * @param first statements to be sent with the BEGIN. If they fail, so does the transaction, and `work` is not run.
   */
  transact<T>(work: (client: PoolClient, edges: OwnEdges) => Promise<T>, first?: readonly Statement[]): Promise<T>;

  /**
   * Runs `work` with a `query` function whose statements all see the database as of the first one. A statement that
   * takes longer than its `timeoutMs` is cancelled. If a statement fails, later ones still work.
   */
  atOneMoment<T>(work: (query: Database['query']) => Promise<T>): Promise<T>;

  /**
   * Calls `onNotice` for each notification without a payload on a channel, and once whenever its connection is
   * established, since earlier notifications may have been missed. Holds one connection. Returns a function that stops
   * it.
   * @param onDeaf called if no notification arrives, not even one that was sent to find that out; nothing is then held
   */
  listen(channel: string, onNotice: () => void, onDeaf: () => void): () => void;

  /** Closes the connections, unless they belong to the application's own pool. */
  close(): Promise<void>;
}

/** Runs statements one by one in a client's transaction. */
export function queryOf(client: ClientBase): Database['query'] {
  return async <Row>({ text, values = [] }: Statement) => (await client.query(text, [...values])).rows as Row[];
}
