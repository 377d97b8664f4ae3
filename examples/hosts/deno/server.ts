import { sync } from '../sync.ts';

const server = Deno.serve({ hostname: Deno.env.get('HOST'), port: Number(Deno.env.get('PORT')) }, (request) =>
  sync.fetch(request),
);

Deno.addSignalListener('SIGTERM', async () => {
  sync.drain();
  await server.shutdown();
  await sync.close();
  Deno.exit();
});
