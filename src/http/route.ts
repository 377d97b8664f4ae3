/** An endpoint, and what it is handed. */
import type { Logger } from '../log.js';
import type { Answer } from './answer.js';

/** An endpoint. */
export interface Route {
  /** The allowed methods. Others are refused with 405. */
  readonly methods: readonly string[];
  /** The path, in Hono's syntax. */
  readonly path: string;
  readonly handle: (exchange: Exchange) => Promise<Answer>;
}

/** A request that is being answered. */
export interface Exchange {
  readonly request: Request;
  readonly requestID: RequestID;
  /** A logger that adds the request ID to every line. */
  readonly log: Logger;
}

/** The ID of a request. */
export interface RequestID {
  /** At most 200 printable ASCII characters. Only for finding log lines: a client may use the same one again. */
  readonly value: string;
  /** The header that it came in; for a new one, the preferred header. */
  readonly header: 'X-Sync-RequestID' | 'X-Replicache-RequestID';
}
