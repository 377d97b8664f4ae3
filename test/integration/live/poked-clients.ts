/** Real sync clients of the example that pull when they are poked, and at no other time. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { connectPokes } from '../../../src/poke.js';
import type { TailState } from '../../../src/pokes/tail.js';
import { openClient, type TestClient, until } from '../conformance/client/client.js';
import type { TestServer } from '../conformance/server.js';
import { applied, pull } from '../conformance/wire.js';

export interface PokedClients {
  /** Resolves when every client holds what its user's views hold. */
  converge(): Promise<void>;
  /** What the clients complained about. */
  errors(): string[];
  close(): Promise<void>;
}

/** What the server says of its pokes; nothing while it is not ready. */
export async function pokeState(server: TestServer): Promise<Partial<TailState>> {
  const { pokes } = (await (await fetch(`${server.url}/readyz`)).json()) as { pokes?: TailState };
  return pokes ?? {};
}

/** Resolves when the change log was read a moment ago. */
export function hasLooked(server: TestServer): Promise<void> {
  return until(async () => ((await pokeState(server)).lagMs ?? Number.NaN) < 250);
}

interface PokedClient extends TestClient {
  readonly user: string;
  readonly stop: () => void;
}

export async function openPokedClients(server: TestServer, users: readonly string[]): Promise<PokedClients> {
  const clients = users.map((user): PokedClient => {
    // No interval, and the test never calls `pull`: what a client has, a poke brought it.
    const client = openClient(server, user, { pullInterval: null });
    return { ...client, user, stop: connectPokes(client.rep, { url: `${server.url}/sync/poke` }) };
  });
  await until(async () => (await pokeState(server)).listeners === clients.length);
  return {
    async converge() {
      await hasLooked(server);
      for (const { user, entries } of clients) {
        const { patch } = await pull(server, user, { clientGroupID: `reader ${user}` });
        const wanted = Object.fromEntries(applied(new Map(), patch));
        await until(async () => isDeepStrictEqual(await entries(), wanted), 15_000).catch(async () =>
          expect(await entries()).toEqual(wanted),
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
