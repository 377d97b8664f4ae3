import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { sync } from '../sync.ts';

const app = new Hono();
app.all('/tidemark/*', (c) => sync.fetch(c.req.raw));

const server = serve({ fetch: app.fetch, hostname: process.env.HOST!, port: Number(process.env.PORT) });
process.once('SIGTERM', () => {
  sync.drain();
  server.close(() => sync.close());
});
