/** One server for a test file, and for each test an empty example, clients to open, and the wire between them. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type ServerOptions, startServer, type TestServer } from '../server.js';
import { type ClientOptions, openClient, type TestClient } from './client.js';
import { recordWire, type Wire } from './wire.js';

export interface Fixture {
  readonly server: TestServer;
  readonly wire: Wire;
  client(user: string, options?: ClientOptions): TestClient;
  /** Allows client errors that match; any other error fails the test. */
  expectErrors(pattern: RegExp): void;
}

export function useFixture(options: ServerOptions = {}): Fixture {
  let server: TestServer;
  let wire: Wire;
  let expected: RegExp[];
  const clients: TestClient[] = [];
  beforeAll(async () => {
    server = await startServer(options);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    await server.pool.query('delete from list');
    wire = recordWire();
    expected = [];
  });
  afterEach(async () => {
    wire.stop();
    const opened = clients.splice(0);
    await Promise.all(opened.map(({ rep }) => rep.close()));
    const errors = opened.flatMap((client) => client.errors);
    expect(errors.filter((error) => !expected.some((pattern) => pattern.test(error)))).toEqual([]);
  });
  return {
    get server() {
      return server;
    },
    get wire() {
      return wire;
    },
    client(user, clientOptions) {
      const client = openClient(server, user, clientOptions);
      clients.push(client);
      return client;
    },
    expectErrors: (pattern) => void expected.push(pattern),
  };
}
