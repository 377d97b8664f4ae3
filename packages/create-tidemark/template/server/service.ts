/** The server, in development, in production and in tests. */
import { type Handler, Hono } from 'hono';
import pg from 'pg';
import { createSync, type Logger, migrate } from 'tidemark';
import type { OpenedDatabase, Service } from 'tidemark/node';
import schema from './schema.sql?raw';
import { authenticate, mutators, views } from './sync.ts';

/** Creates the tables, and installs or upgrades Tidemark. */
export async function prepareDatabase({ url }: OpenedDatabase, log: Logger): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(schema).finally(() => client.end());
  await migrate({ database: url, views, log });
}

/** Serves data. `pages` handles all other requests. */
export async function openService({ url }: OpenedDatabase, log: Logger, pages: Handler): Promise<Service> {
  const sync = await createSync({ database: url, views, mutators, authenticate, log });
  const app = new Hono();
  for (const path of ['/sync/*', '/api/*', '/healthz', '/readyz']) app.all(path, (c) => sync.fetch(c.req.raw, c.env));
  app.get('*', pages);
  return { ...sync, fetch: app.fetch };
}
