import { describeError, type Logger, withFields } from '../log.js';
import { destroyConnection } from './node-exchange.js';
import type { Annotations, RequestObserver } from './route.js';
import type { StreamEnd, StreamOwner } from './sending/stream.js';

/** The parts of a request's record that are known when the request arrives. */
export interface RequestRecordOptions {
  /** The fields of the log line that say what is requested: for example, the method and the path. */
  readonly subject: object;
  readonly requestID: string;
  /** The route's label; `other` if there is none. */
  readonly route: string;
  readonly logLevel: 'debug' | 'info';
  readonly log: Logger;
  readonly observer: RequestObserver | undefined;
}

/** Records a request in the log, and reports its beginning and its end to the observer. */
export class RequestRecord {
  /** A logger that adds the request ID to every line. */
  readonly log: Logger;
  /** Endpoints add to them until the response ends. */
  readonly annotations: Annotations = {};
  readonly #options: RequestRecordOptions;
  readonly #started = performance.now();

  constructor(options: RequestRecordOptions) {
    const { log, requestID, observer } = options;
    observer?.began();
    this.log = withFields(log, { requestID });
    this.#options = options;
  }

  /** @param bytes the length of the body as sent */
  end(status: number, bytes: number, fields: object = {}): void {
    const { subject, route, logLevel, observer } = this.#options;
    const { log, annotations } = this;
    const ms = performance.now() - this.#started;
    const outcome = { status, ms: Math.round(ms) };
    // A literal that begins with a spread would take memory: see `LoggerWithFields`.
    log[logLevel](Object.assign({}, subject, outcome, annotations, fields), 'Request');
    observer?.ended({ route, status, ms, bytes, annotations });
  }
}

/** A response that is sent as a stream, with status 200. */
export class StreamedResponse implements StreamOwner {
  readonly #record: RequestRecord;
  readonly #log: Logger;
  readonly #env: unknown;

  /** @param env the value that the runtime's adapter passes with the request */
  constructor(record: RequestRecord, log: Logger, env: unknown) {
    this.#record = record;
    this.#log = log;
    this.#env = env;
  }

  ended({ bytes, ...how }: StreamEnd & { readonly bytes: number }): void {
    if (how.outcome === 'failed') this.#log.error({ error: describeError(how.error) }, 'A response was cut off');
    this.#record.end(200, bytes, { outcome: how.outcome });
  }

  breakOff(): boolean {
    return destroyConnection(this.#env);
  }
}
