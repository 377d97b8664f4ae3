import { sync } from '../sync.ts';

const server = Bun.serve({
  hostname: process.env.HOST!,
  port: process.env.PORT,
  idleTimeout: 60, // seconds; streams of pokes are silent for 15
  routes: { '/tidemark/*': sync.fetch },
});

process.once('SIGTERM', async () => {
  sync.drain();
  await server.stop();
  await sync.close();
});
