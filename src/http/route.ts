/** An endpoint, and what it is handed. */
import type { UserContext } from '../context.js';
import type { Logger } from '../log.js';
import type { Answer } from './answer.js';

/** An endpoint. */
export interface Route {
  /** The allowed methods. Others are refused with 405. */
  readonly methods: readonly string[];
  /** The path, in Hono's syntax. */
  readonly path: string;
  /** What metrics and traces call it. Default: the path. */
  readonly label?: string | undefined;
  /** The level at which its requests are logged. Default: `info`. */
  readonly logLevel?: 'debug' | 'info' | undefined;
  readonly handle: (exchange: Exchange) => Promise<Answer>;
}

/** A request that is being answered. */
export interface Exchange {
  readonly request: Request;
  readonly requestID: RequestID;
  /** A logger that adds the request ID to every line. */
  readonly log: Logger;
  /** Notes what the request turned out to be. */
  readonly tell: (told: Told) => void;
  /** Rejects if the request is not to be answered, because the user sends too many. Default: it is. */
  readonly admitUser?: ((context: UserContext) => Promise<void>) | undefined;
}

/** What an endpoint tells about a request, for the log and for metrics. */
export interface Told {
  /** How a pull was answered. */
  readonly pull?: 'unchanged' | 'behind' | 'delta' | 'views' | 'first' | 'reset' | undefined;
  /** Why a client was reset. */
  readonly reason?: string | undefined;
  /** The number of ops in a patch. */
  readonly ops?: number | undefined;
  /** The number of mutations in a push. */
  readonly mutations?: number | undefined;
}

/** A request that has been answered, to its end. */
export interface RequestEnd {
  /** The route's label; `other` if there is none. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** The length of the body, as it was sent, in bytes. */
  readonly bytes: number;
  readonly told: Told;
}

/** Learns of requests. */
export interface RequestObserver {
  /** Surrounds the work of a route. */
  around<T>(request: { readonly exchange: Exchange; readonly route: string }, work: () => Promise<T>): Promise<T>;
  ended(end: RequestEnd): void;
}

/** The ID of a request. */
export interface RequestID {
  /** At most 200 printable ASCII characters. Only for finding log lines: a client may use the same one again. */
  readonly value: string;
  /** The header that it came in; for a new one, the preferred header. */
  readonly header: 'X-Sync-RequestID' | 'X-Replicache-RequestID';
}
