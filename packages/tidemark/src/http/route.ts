/** Endpoints, and the requests that they answer. */
import type { Admission } from '../limits/admission.js';
import type { Logger } from '../log.js';
import type { Answer } from './answer.js';

/** An endpoint. */
export interface Route {
  /** The allowed methods. Other methods get a 405 response. */
  readonly methods: readonly string[];
  /** The path, in Hono's syntax. */
  readonly path: string;
  /** The name of the route in metrics and traces. Default: the path. */
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
  /** Added to the request's log line and metrics. `annotate` extends them. */
  readonly annotations: Annotations;
  /** Default: every request is admitted. */
  readonly admission?: Admission | undefined;
}

/** An endpoint's annotations of a request, for the log and for metrics. */
export interface Annotations {
  /** The kind of answer to a pull. */
  readonly pull?: 'unchanged' | 'behind' | 'delta' | 'views' | 'first' | 'reset' | undefined;
  /** The reason for a client's reset. */
  readonly reason?: string | undefined;
  /** The number of ops in a patch. */
  readonly ops?: number | undefined;
  /** The number of mutations in a push. */
  readonly mutations?: number | undefined;
}

/** Adds annotations to a request, if it has any. */
export function annotate({ annotations }: { readonly annotations?: Annotations | undefined }, more: Annotations): void {
  if (annotations) Object.assign(annotations, more);
}

/** A request whose work begins. */
export interface RequestStart {
  /** The route's label; `other` if there is none. */
  readonly route: string;
  readonly requestID: string;
  /** Undefined if code of the server makes the request. */
  readonly request?: Pick<Request, 'method' | 'headers'> | undefined;
}

/** A request whose response has ended. */
export interface RequestEnd {
  /** The route's label; `other` if there is none. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** The length of the body as sent, in bytes. */
  readonly bytes: number;
  readonly annotations: Annotations;
}

/** Observes requests. */
export interface RequestObserver {
  began(): void;
  /** Runs the work of a route, for example in a span. */
  around<T>(start: RequestStart, work: () => Promise<T>): Promise<T>;
  ended(end: RequestEnd): void;
}

/** The ID of a request. */
export interface RequestID {
  /** At most 200 printable ASCII characters. Use it only to find log lines, because a client may reuse it. */
  readonly value: string;
  /** The header that the ID came in; for a new ID, the preferred header. */
  readonly header: 'X-Sync-RequestID' | 'X-Replicache-RequestID';
}
