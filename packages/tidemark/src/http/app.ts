import { type Context, Hono } from 'hono';
import { Problem } from '../errors.js';
import type { Admission } from '../limits/admission.js';
import type { Logger } from '../log.js';
import type { Answer } from './answer.js';
import { addressOf, releaseBody } from './node-exchange.js';
import { problemBody, toLoggedProblem } from './problem.js';
import { requestIDOf } from './request-id.js';
import { RequestRecord, StreamedResponse } from './request-record.js';
import type { Exchange, RequestID, RequestObserver, Route } from './route.js';
import { toBody } from './sending/stream.js';

/** An HTTP application, created by `createApp`. */
export interface App {
  /** Answers one request; never rejects. The runtime's adapter passes `env`. */
  fetch(request: Request, env?: unknown): Promise<Response>;
}

/** The options of `createApp`. */
export interface AppOptions {
  /** Observes every request. Default: none. */
  readonly observer?: RequestObserver | undefined;
  /** Default: every request is admitted. */
  readonly admission?: Admission | undefined;
}

/** Creates an app that serves routes; earlier ones take precedence. It refuses other paths and methods. */
export function createApp(routes: readonly Route[], log: Logger, options: AppOptions = {}): App {
  const app = new Hono();
  // One handler per path, for all methods: with a second one, Hono would compose middleware for every request.
  for (const route of routes) {
    const answer = answering(route, log, options);
    app.all(route.path, (c) => answer(incoming(c)));
  }
  const parts: Parts = { route: 'other', logLevel: 'info', log, options };
  app.notFound((c) => respond(incoming(c), parts, refusePath));
  app.onError((error, c) =>
    respond(incoming(c), parts, () => {
      throw error;
    }),
  );
  return { fetch: async (request, env) => app.fetch(request, env as object) };
}

/** Creates a function that answers requests as one route of an app does, whatever their path. */
export function createHandler(route: Route, log: Logger, options: AppOptions = {}): App['fetch'] {
  const answer = answering(route, log, options);
  return (request, env) => answer({ request, path: new URL(request.url).pathname, env });
}

/** Creates a function that answers requests with an error, as an app does when a route throws it. */
export function createRefusal(log: Logger, options: AppOptions = {}) {
  const parts: Parts = { route: 'other', logLevel: 'info', log, options };
  return (request: Request, env: unknown, error: unknown): Promise<Response> =>
    respond({ request, path: new URL(request.url).pathname, env }, parts, () => Promise.reject(error));
}

function answering(
  { methods, path, label = path, logLevel = 'info', handle }: Route,
  log: Logger,
  options: AppOptions,
): (incoming: Incoming) => Promise<Response> {
  const parts: Parts = { route: label, logLevel, log, options };
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
  readonly options: AppOptions;
}

/** Answers a request. Only this function turns errors into responses and logs HTTP requests. */
async function respond(
  { request, path, env }: Incoming,
  { route, logLevel, log, options: { observer, admission } }: Parts,
  handler: (exchange: Exchange) => Promise<Answer>,
): Promise<Response> {
  const requestID = requestIDOf(request.headers);
  const subject = { method: request.method, path };
  const record = new RequestRecord({ subject, requestID: requestID.value, route, logLevel, log, observer });
  const { log: requestLog, annotations } = record;
  const exchange = { request, requestID, log: requestLog, annotations, admission };
  try {
    if (admission) await admission.admitAddress(request, addressOf(env), requestLog);
    const begun = { route, requestID: requestID.value, request };
    const answer = await (observer ? observer.around(begun, () => handler(exchange)) : handler(exchange));
    if (answer.kind === 'json') {
      record.end(200, Buffer.byteLength(answer.text));
      return new Response(answer.text, { headers: headersOf(requestID) });
    }
    if (answer.kind === 'reply') {
      const { status = 200, headers, body } = answer;
      record.end(status, body === null ? 0 : Buffer.byteLength(body));
      return new Response(body, { status, headers: { ...headersOf(requestID), ...headers } });
    }
    const streamed = new StreamedResponse(record, requestLog, env);
    if (answer.kind === 'events') return new Response(answer.open(streamed), { headers: eventHeadersOf(requestID) });
    const body = await toBody(answer.pieces, streamed);
    return new Response(body, { headers: { ...headersOf(requestID), ...answer.headers } });
  } catch (error) {
    const problem = toLoggedProblem(error, requestLog);
    if (problem.code === 'body-too-large') releaseBody(env);
    const body = problemBody(problem, requestID.value);
    record.end(problem.status, Buffer.byteLength(body), { code: problem.code });
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
