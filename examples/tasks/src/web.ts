/** Serves the web application and, from the same origin, the sync server and its REST API. */
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono, type MiddlewareHandler } from 'hono';
import type { Sync } from 'tidemark';
import type { Service } from 'tidemark/node';

const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Serves the web application beside a sync server.
 * @param directory the output of the web application's build
 */
export function serveWeb(sync: Pick<Sync, 'fetch'>, directory: string): Service['fetch'] {
  const app = new Hono();
  for (const path of ['/sync/*', '/api/*', '/healthz', '/readyz']) app.all(path, (c) => sync.fetch(c.req.raw, c.env));
  // Both paths serve the same page, which decides from its address what to show.
  const page = serveStatic({ path: `${directory}/index.html` });
  for (const path of ['/', '/side-by-side']) app.get(path, withHeaders('no-cache'), page);
  // The names of assets contain a hash of their content.
  app.get('/assets/*', withHeaders('public, max-age=31536000, immutable'), serveStatic({ root: directory }));
  app.notFound((c) =>
    c.text('There is nothing at this address.\n', 404, { ...securityHeaders, 'Cache-Control': 'no-store' }),
  );
  return (request, env) => app.fetch(request, env as object);
}

function withHeaders(caching: string): MiddlewareHandler {
  const headers = Object.entries({ ...securityHeaders, 'Cache-Control': caching });
  return async (c, next) => {
    for (const [name, value] of headers) c.header(name, value);
    await next();
  };
}
