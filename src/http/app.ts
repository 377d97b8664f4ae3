import { type Context, Hono } from 'hono';
import { Problem } from '../errors.js';
import type { Logger } from '../log.js';
import { type Incoming, respond } from './exchange.js';
import type { Route } from './route.js';

/** What `createApp` returns. */
export interface App {
  /** Answers one request; never rejects. `env` is what the runtime's adapter passes on. */
  fetch(request: Request, env?: unknown): Promise<Response>;
}

/** Serves routes; earlier ones take precedence. Refuses other paths and methods. */
export function createApp(routes: readonly Route[], log: Logger): App {
  const app = new Hono();
  // One handler for all methods: with a second one per path, Hono would compose middleware for every request.
  for (const { methods, path, handle } of routes) {
    app.all(path, (c) =>
      respond(incoming(c), log, methods.includes(c.req.method) ? handle : () => refuseMethod(methods)),
    );
  }
  app.notFound((c) => respond(incoming(c), log, refusePath));
  app.onError((error, c) =>
    respond(incoming(c), log, () => {
      throw error;
    }),
  );
  return { fetch: async (request, env) => app.fetch(request, env as object) };
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
