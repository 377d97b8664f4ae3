/** A small HTTP server that responds to each request for pokes as a test specifies. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { connectPokes, type PokeOptions, type PokeTarget } from '../../packages/client/src/poke.js';

export type Answer = (response: ServerResponse) => void;

/** Starts an event stream. */
export function events(response: ServerResponse, text = ''): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.flushHeaders();
  response.write(text);
}

/** A stream that ends immediately, and makes the client reconnect soon. */
export const passing: Answer = (response) => {
  events(response, 'retry: 10\n\n');
  response.end();
};

export async function servePokes() {
  const requests: IncomingMessage[] = [];
  const responses: ServerResponse[] = [];
  /** Each serves one request. After them, streams stay open. */
  const script: Answer[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    responses.push(response);
    const answer = script.shift() ?? ((open) => events(open, 'retry: 10\n\ndata: poke\n\n'));
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/sync/poke`,
    script,
    requests,
    responses,
    asked: (count: number) =>
      vi.waitFor(
        () => {
          if (requests.length < count) throw new Error(`${requests.length} requests have come, not ${count}`);
        },
        { timeout: 10_000, interval: 5 },
      ),
  };
}

let groups = 0;

interface Client {
  readonly clientGroupID: string;
  readonly auth: string;
}

/** The parts of a client that pokes need, connected to a server for pokes. */
export function connect(
  url: string,
  { clientGroupID = `g ${groups++}`, auth = 'Bearer one', ...options }: Partial<PokeOptions & Client> = {},
) {
  const pull = vi.fn<(options?: { now?: boolean }) => Promise<void>>(async () => {});
  const rep = {
    clientGroupID: Promise.resolve(clientGroupID),
    profileID: Promise.resolve('p/1'),
    schemaVersion: 'v&2',
    auth,
    // Returns a promise of its own, because the spy would handle a rejection.
    pull: async (options?: { now?: boolean }) => await pull(options),
  } satisfies PokeTarget;
  const stop = connectPokes(rep, { ...options, url });
  onTestFinished(stop);
  const pulled = (count: number) =>
    vi.waitFor(
      () => {
        if (pull.mock.calls.length < count) throw new Error(`${pull.mock.calls.length} pulls, not ${count}`);
      },
      { timeout: 10_000, interval: 5 },
    );
  return { rep, pull, pulled, stop, clientGroupID };
}
