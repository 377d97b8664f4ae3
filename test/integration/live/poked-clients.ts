/** Real sync clients of the example that pull only when they are poked. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { connectPokes } from '../../../packages/client/src/poke.js';
import type { NotifierState } from '../../../packages/tidemark/src/pokes/poke-notifier.js';
import { openClient, type TestClient, until } from '../conformance/client/client.js';
import type { TestServer } from '../conformance/server.js';
import { applied, pull } from '../conformance/wire.js';

export interface PokedClients {
  /** Resolves when every client holds the contents of its user's views. */
  converge(): Promise<void>;
  /** The errors that the clients reported. */
  errors(): string[];
  close(): Promise<void>;
}

/** The server's poke state; empty while the server is not ready. */
export async function pokeState(server: TestServer): Promise<Partial<NotifierState>> {
  const { pokes } = (await (await fetch(`${server.url}/readyz`)).json()) as { pokes?: NotifierState };
  return pokes ?? {};
}

/** Resolves when the server has just read the change log. */
export function hasPolled(server: TestServer): Promise<void> {
  return until(async () => ((await pokeState(server)).lagMs ?? Number.NaN) < 250);
}

interface PokedClient extends TestClient {
  readonly user: string;
  readonly stop: () => void;
}

export async function openPokedClients(server: TestServer, users: readonly string[]): Promise<PokedClients> {
  const clients = users.map((user): PokedClient => {
    // There is no interval, and the test never calls `pull`, so only pokes bring data to a client.
    const client = openClient(server, user, { pullInterval: null });
    return { ...client, user, stop: connectPokes(client.rep, { url: `${server.url}/sync/poke` }) };
  });
  await until(async () => (await pokeState(server)).subscribers === clients.length);
  return {
    async converge() {
      await hasPolled(server);
      for (const { user, entries } of clients) {
        const { patch } = await pull(server, user, { clientGroupID: `reader ${user}` });
        const expected = Object.fromEntries(applied(new Map(), patch));
        await until(async () => isDeepStrictEqual(await entries(), expected), 15_000).catch(async () =>
          expect(await entries()).toEqual(expected),
        );
      }
    },
    errors: () => clients.flatMap(({ errors }) => errors),
    async close() {
      for (const { stop } of clients) stop();
      await Promise.all(clients.map(({ rep }) => rep.close()));
    },
  };
}
