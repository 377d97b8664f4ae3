import { randomUUID } from 'node:crypto';
import type { Problem } from '../errors.js';
import { describeError, type Logger, withFields } from '../log.js';
import type { Answer } from './answer.js';
import { problemBody, toProblem } from './problem.js';
import { type StreamEnd, toBody } from './stream.js';

/** The headers in which a sync client may send its request ID, in order of precedence. */
const headerNames = ['X-Sync-RequestID', 'X-Replicache-RequestID'] as const;

const MAX_LENGTH = 200;

/** The ID of a request. */
export interface RequestID {
  /** At most 200 printable ASCII characters. Only for finding log lines: a client may use the same one again. */
  readonly value: string;
  /** The header that it came in; for a new one, the preferred header. */
  readonly header: (typeof headerNames)[number];
}

/** A request that is being answered. */
export interface Exchange {
  readonly request: Request;
  readonly requestID: RequestID;
  /** A logger that adds the request ID to every line. */
  readonly log: Logger;
}

/** A request as the router passes it on. */
export interface Incoming {
  readonly request: Request;
  readonly path: string;
  /** What else the runtime's adapter passes on. */
  readonly env: unknown;
}

/** Answers a request. This is the only place where failures become responses, and where requests are logged. */
export async function respond(
  { request, path, env }: Incoming,
  log: Logger,
  handler: (exchange: Exchange) => Promise<Answer>,
): Promise<Response> {
  const started = performance.now();
  const requestID = requestIDOf(request.headers);
  const requestLog = withFields(log, { requestID: requestID.value });
  const { method } = request;
  const logEnd = (status: number, fields: object = {}) => {
    const level = path === '/healthz' || path === '/readyz' ? 'debug' : 'info';
    requestLog[level]({ method, path, status, ms: Math.round(performance.now() - started), ...fields }, 'Request');
  };
  try {
    const answer = await handler({ request, requestID, log: requestLog });
    if (answer.kind === 'json') {
      logEnd(200);
      return new Response(answer.text, { headers: headersOf(requestID) });
    }
    if (answer.kind === 'reply') {
      const { status = 200, headers, body } = answer;
      logEnd(status);
      return new Response(body, { status, headers: { ...headersOf(requestID), ...headers } });
    }
    const onEnd = (end: StreamEnd) => {
      if (end.outcome === 'failed') requestLog.error({ error: describeError(end.error) }, 'A response was cut off');
      logEnd(200, { outcome: end.outcome });
    };
    const options = { onEnd, breakOff: () => destroyConnection(env) };
    if (answer.kind === 'events') return new Response(answer.open(options), { headers: eventHeadersOf(requestID) });
    return new Response(await toBody(answer.pieces, options), { headers: headersOf(requestID) });
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status >= 500) logFailure(requestLog, problem);
    if (problem.code === 'body-too-large') releaseBody(env);
    logEnd(problem.status, { code: problem.code });
    return new Response(problemBody(problem, requestID.value), {
      status: problem.status,
      headers: { ...problem.headers, ...headersOf(requestID), 'Content-Type': 'application/problem+json' },
    });
  }
}

/** The request ID that the client sent, without unprintable characters; a new one if nothing is left. */
function requestIDOf(headers: Headers): RequestID {
  for (const header of headerNames) {
    const value = headers
      .get(header)
      ?.replace(/[^\x20-\x7e]/g, '')
      .trim()
      .slice(0, MAX_LENGTH)
      .trimEnd();
    if (value) return { value, header };
  }
  return { value: randomUUID(), header: headerNames[0] };
}

/** Passed to the response's constructor: changing its headers afterwards would halve the throughput. */
function headersOf(requestID: RequestID): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Cache-Control': 'private, no-store',
    'X-Request-ID': requestID.value,
  };
}

/** These headers ask proxies to pass on each event at once, unchanged. */
function eventHeadersOf(requestID: RequestID): Record<string, string> {
  return {
    ...headersOf(requestID),
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'private, no-store, no-transform',
    'X-Accel-Buffering': 'no',
  };
}

function logFailure(log: Logger, problem: Problem): void {
  const { code, message: detail, cause } = problem;
  const level = code === 'internal' ? 'error' : 'warn';
  log[level]({ code, detail, ...(cause !== undefined && { error: describeError(cause) }) }, 'A request failed');
}

/**
 * With Node's HTTP server, breaks off a response that has begun, by its own `destroy`: if the stream failed instead,
 * the adapter would print the error to the console. Returns false where this is not possible.
 */
function destroyConnection(env: unknown): boolean {
  if (typeof env !== 'object' || env === null || !('outgoing' in env)) return false;
  const outgoing = env.outgoing as { readonly headersSent: boolean; destroy(): void };
  if (!outgoing.headersSent) return false;
  outgoing.destroy();
  return true;
}

/**
 * With Node's HTTP server, the unread rest of a body would block the next request on the connection. The adapter
 * discards it after the response, up to a limit, but only once the body's reader no longer holds it back.
 */
function releaseBody(env: unknown): void {
  if (typeof env !== 'object' || env === null || !('incoming' in env)) return;
  const incoming = env.incoming as { removeAllListeners(event: string): void };
  incoming.removeAllListeners('data');
}
