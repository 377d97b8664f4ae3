import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { sync } from '../sync.ts';

const app = express();
// Before `express.json()`, which leaves no body to read.
app.all('/tidemark/*path', getRequestListener(sync.fetch));

const server = app.listen(Number(process.env.PORT), process.env.HOST!);
process.once('SIGTERM', () => {
  sync.drain();
  server.close(() => sync.close());
});
