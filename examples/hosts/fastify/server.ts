import { getRequestListener } from '@hono/node-server';
import fastify from 'fastify';
import { sync } from '../sync.ts';

const app = fastify();
const listener = getRequestListener(sync.fetch);

await app.register(async (scope) => {
  // Fastify leaves the bodies of these requests alone.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _body, done) => done(null));
  scope.all('/tidemark/*', (request, reply) => {
    reply.hijack();
    return listener(request.raw, reply.raw);
  });
  scope.addHook('preClose', async () => sync.drain());
  scope.addHook('onClose', () => sync.close());
});

await app.listen({ host: process.env.HOST!, port: Number(process.env.PORT) });
process.once('SIGTERM', () => app.close());
