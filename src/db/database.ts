import type { PoolClient } from 'pg';

/** One SQL statement. Values are always parameters; a name has the server keep its plan per connection. */
export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  readonly name?: string | undefined;
  /** Gives up, and the connection with it, when there is no answer after so many milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** A column of a result; the type is Postgres's OID. */
export interface ResultColumn {
  readonly name: string;
  readonly typeOID: number;
}

/** What Postgres says of a query without running it. */
export interface QueryDescription {
  /**
   * The types of `$1…$n` in order, as qualified names: no keyword such as `character`, which would mean a length of
   * one.
   */
  readonly parameterTypes: readonly string[];
  /** The query as Postgres has understood it: the text of a `Query` node, as `debug_print_parse` writes it. */
  readonly tree: string;
  /** How many bytes stand before the query in the text that the locations in `tree` are places of. */
  readonly offset: number;
}

/** All that the rest of Tidemark asks of Postgres. The driver is known to the adapter alone. */
export interface Database {
  /** Runs one statement outside a transaction. */
  query<Row>(statement: Statement): Promise<Row[]>;

  /** Describes a SELECT without planning or running it. The text must not end in a semicolon. */
  describe(text: string): Promise<QueryDescription>;

  /** The columns of a SELECT's result, without planning or running it. */
  columns(text: string): Promise<ResultColumn[]>;

  /**
   * Runs `text`, a `copy … to stdout` statement, and yields its bytes as they arrive, with backpressure.
   * Leaving the loop early discards the connection: an abandoned COPY would hang it.
   */
  copy(text: string): AsyncIterable<Uint8Array>;

  /**
   * Runs `work` in a REPEATABLE READ transaction and commits it; rolls back when it throws. Retries on serialization
   * failures and deadlocks, a bounded number of times with jitter, so `work` may run more than once.
   */
  transact<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;

  /**
   * Runs `work` with a `query` of its own, whose statements all see the database at one moment: that of the first. One
   * that takes longer than its `timeoutMs` is cancelled. One that fails harms none that come after it.
   */
  atOneMoment<T>(work: (query: Database['query']) => Promise<T>): Promise<T>;

  /**
   * Calls `onNotice` for each notification on a channel, and once whenever the connection for it is made: what was
   * notified before is unknown. Holds one connection. Returns what ends it.
   */
  listen(channel: string, onNotice: () => void): () => void;

  close(): Promise<void>;
}
