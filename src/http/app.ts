import { type Context, Hono } from 'hono';
import type { UserContext } from '../context.js';
import { Problem } from '../errors.js';
import { describeError, type Logger, withFields } from '../log.js';
import type { Answer } from './answer.js';
import { problemBody, toProblem } from './problem.js';
import { requestIDOf } from './request-id.js';
import type { Annotations, Exchange, RequestID, RequestObserver, Route } from './route.js';
import { type StreamEnd, toBody } from './sending/stream.js';

/** An HTTP application, created by `createApp`. */
export interface App {
  /** Answers one request; never rejects. The runtime's adapter passes `env`. */
  fetch(request: Request, env?: unknown): Promise<Response>;
}

/** Callbacks for each request. */
export interface Hooks {
  /** Observes every request. */
  readonly observer?: RequestObserver | undefined;
  /** Rejects if the address has sent too many requests. */
  readonly admit?: ((exchange: Exchange, address: string | undefined) => Promise<void>) | undefined;
  /** Rejects if the user has sent too many requests. */
  readonly admitUser?: ((context: UserContext, log: Logger) => Promise<void>) | undefined;
}

/** Creates an app that serves routes; earlier ones take precedence. It refuses other paths and methods. */
export function createApp(routes: readonly Route[], log: Logger, hooks: Hooks = {}): App {
  const app = new Hono();
  // One handler per path, for all methods: with a second one, Hono would compose middleware for every request.
  for (const route of routes) {
    const answer = answering(route, log, hooks);
    app.all(route.path, (c) => answer(incoming(c)));
  }
  const parts: Parts = { route: 'other', logLevel: 'info', log, hooks };
  app.notFound((c) => respond(incoming(c), parts, refusePath));
  app.onError((error, c) =>
    respond(incoming(c), parts, () => {
      throw error;
    }),
  );
  return { fetch: async (request, env) => app.fetch(request, env as object) };
}

/** Creates a function that answers requests as one route of an app does, whatever their path. */
export function createHandler(route: Route, log: Logger, hooks: Hooks = {}): App['fetch'] {
  const answer = answering(route, log, hooks);
  return (request, env) => answer({ request, path: new URL(request.url).pathname, env });
}

/** Creates a function that answers requests with an error, as an app does when a route throws it. */
export function createRefusal(log: Logger, hooks: Hooks = {}) {
  const parts: Parts = { route: 'other', logLevel: 'info', log, hooks };
  return (request: Request, env: unknown, error: unknown): Promise<Response> =>
    respond({ request, path: new URL(request.url).pathname, env }, parts, () => Promise.reject(error));
}

function answering(
  { methods, path, label = path, logLevel = 'info', handle }: Route,
  log: Logger,
  hooks: Hooks,
): (incoming: Incoming) => Promise<Response> {
  const parts: Parts = { route: label, logLevel, log, hooks };
  const refuse = () => refuseMethod(methods);
  return (incoming) => respond(incoming, parts, methods.includes(incoming.request.method) ? handle : refuse);
}

function incoming({ req, env }: Context): Incoming {
  return { request: req.raw, path: req.path, env };
}

async function refuseMethod(methods: readonly string[]): Promise<never> {
  const allow = methods.join(', ');
  throw new Problem('method-not-allowed', `This path accepts only ${allow}`, { headers: { Allow: allow } });
}

async function refusePath(): Promise<never> {
  throw new Problem('not-found', 'There is nothing at this path');
}

/** A request from the router. */
interface Incoming {
  readonly request: Request;
  readonly path: string;
  /** The value that the runtime's adapter passes with the request. */
  readonly env: unknown;
}

/** The parts of an answer that depend on the route and the app. */
interface Parts {
  readonly route: string;
  readonly logLevel: 'debug' | 'info';
  readonly log: Logger;
  readonly hooks: Hooks;
}

/** Answers a request. Only this function turns errors into responses and logs requests. */
async function respond(
  { request, path, env }: Incoming,
  { route, logLevel, log, hooks: { observer, admit, admitUser } }: Parts,
  handler: (exchange: Exchange) => Promise<Answer>,
): Promise<Response> {
  const started = performance.now();
  const requestID = requestIDOf(request.headers);
  const requestLog = withFields(log, { requestID: requestID.value });
  const { method } = request;
  const annotations: Annotations = {};
  const annotate = (more: Annotations) => {
    Object.assign(annotations, more);
  };
  const exchange = {
    request,
    requestID,
    log: requestLog,
    annotate,
    admitUser: admitUser && ((context: UserContext) => admitUser(context, requestLog)),
  };
  const end = (status: number, bytes: number, fields: object = {}) => {
    const ms = performance.now() - started;
    requestLog[logLevel]({ method, path, status, ms: Math.round(ms), ...annotations, ...fields }, 'Request');
    observer?.ended({ route, status, ms, bytes, annotations });
  };
  try {
    if (admit) await admit(exchange, addressOf(env));
    const answer = await (observer ? observer.around({ exchange, route }, () => handler(exchange)) : handler(exchange));
    if (answer.kind === 'json') {
      end(200, Buffer.byteLength(answer.text));
      return new Response(answer.text, { headers: headersOf(requestID) });
    }
    if (answer.kind === 'reply') {
      const { status = 200, headers, body } = answer;
      end(status, body === null ? 0 : Buffer.byteLength(body));
      return new Response(body, { status, headers: { ...headersOf(requestID), ...headers } });
    }
    const onEnd = ({ bytes, ...how }: StreamEnd & { readonly bytes: number }) => {
      if (how.outcome === 'failed') requestLog.error({ error: describeError(how.error) }, 'A response was cut off');
      end(200, bytes, { outcome: how.outcome });
    };
    const options = { onEnd, breakOff: () => destroyConnection(env) };
    if (answer.kind === 'events') return new Response(answer.open(options), { headers: eventHeadersOf(requestID) });
    const body = await toBody(answer.pieces, options);
    return new Response(body, { headers: { ...headersOf(requestID), ...answer.headers } });
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status >= 500) logFailure(requestLog, problem);
    if (problem.code === 'body-too-large') releaseBody(env);
    const body = problemBody(problem, requestID.value);
    end(problem.status, Buffer.byteLength(body), { code: problem.code });
    return new Response(body, {
      status: problem.status,
      headers: { ...problem.headers, ...headersOf(requestID), 'Content-Type': 'application/problem+json' },
    });
  }
}

/** Returns headers for the response's constructor. Changing them afterwards would halve the throughput. */
function headersOf(requestID: RequestID): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-ID': requestID.value,
  };
}

/** Returns headers that ask proxies to pass on each event immediately and unchanged. */
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

/** The `env` that the adapter of Node's HTTP server passes. */
interface NodeExchange {
  readonly incoming: {
    readonly socket?: { readonly remoteAddress?: string };
    removeAllListeners(event: string): void;
  };
  readonly outgoing: { readonly headersSent: boolean; destroy(): void };
}

/** Returns an empty object on other runtimes. */
function nodeExchange(env: unknown): Partial<NodeExchange> {
  return typeof env === 'object' && env !== null ? env : {};
}

/**
 * On Node's HTTP server, cuts off a response that has begun by destroying it. If the stream failed instead, the adapter
 * would print the error to the console. Returns false if the response cannot be destroyed.
 */
function destroyConnection(env: unknown): boolean {
  const { outgoing } = nodeExchange(env);
  if (!outgoing?.headersSent) return false;
  outgoing.destroy();
  return true;
}

/** Returns the remote address of the connection, on Node's HTTP server. */
function addressOf(env: unknown): string | undefined {
  return nodeExchange(env).incoming?.socket?.remoteAddress;
}

/**
 * Detaches the reader of a body. On Node's HTTP server, the unread rest of a body would block the connection's next
 * request. After the response, the adapter discards the rest, up to a limit, but only if no reader is attached.
 */
function releaseBody(env: unknown): void {
  nodeExchange(env).incoming?.removeAllListeners('data');
}
