/** Two processes of the example on one database, and clients that pull only when they are poked. */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { connectPokes } from '../../../packages/client/src/poke.js';
import { type Example, startExample } from '../../e2e/example/example.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { openClient, type TestClient } from '../conformance/client/client.js';

export interface Connections {
  /** The node that the client pulls from and pushes to. */
  readonly node: Example;
  /** The node that pokes the client, by default the same one; `none` for no pokes. */
  readonly pokes?: Example | 'none';
}

export interface Nodes {
  readonly pool: TestDatabase['pool'];
  readonly one: Example;
  readonly two: Example;
  client(user: string, connections: Connections): TestClient;
}

export function useNodes(): Nodes {
  let database: TestDatabase;
  let one: Example;
  let two: Example;
  const ends: (() => unknown)[] = [];
  const clients: TestClient[] = [];
  beforeAll(async () => {
    database = await createEmptyDatabase();
    one = await startExample({ DATABASE_URL: database.url });
    two = await startExample({ DATABASE_URL: database.url });
  }, 120_000);
  afterAll(async () => {
    try {
      await Promise.all([one?.stop(), two?.stop()]);
    } finally {
      await database.drop();
    }
  }, 60_000);
  afterEach(async () => {
    for (const end of ends.splice(0)) end();
    const opened = clients.splice(0);
    await Promise.all(opened.map(({ rep }) => rep.close()));
    expect(opened.flatMap(({ errors }) => errors)).toEqual([]);
  });
  return {
    get pool() {
      return database.pool;
    },
    get one() {
      return one;
    },
    get two() {
      return two;
    },
    client(user, { node, pokes = node }) {
      const client = openClient(node, user);
      clients.push(client);
      if (pokes !== 'none') ends.push(connectPokes(client.rep, { url: `${pokes.url}/sync/poke` }));
      return client;
    },
  };
}
