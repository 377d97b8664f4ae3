/** The example application, served to clients of `@tidemark/client`. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { mutators } from '../../../examples/tasks/src/mutators.js';
import { openClient } from '../../../packages/client/src/create-client.js';
import type { Client, ClientOptions } from '../../../packages/client/src/index.js';
import type { views } from '../../support/whole-views.js';
import { type ServerOptions, startServer, type TestServer } from '../conformance/server.js';

export type TasksClient = Client<typeof mutators, typeof views>;
export type TasksOptions = ClientOptions<typeof mutators, typeof views>;

/** The example's mutators on the client: the effects that a client can predict. */
export const optimistic: NonNullable<TasksOptions['mutators']> = {
  list: { create: (tx, { id, name }) => tx.view('list').set(id, { id, name, ownerID: 'me' }) },
  todo: {
    create: (tx, todo) => tx.view('todo').set(todo.id, { ...todo, done: false }),
    update: (tx, { id, ...fields }) => tx.view('todo').update(id, fields),
    delete: (tx, { id }) => tx.view('todo').delete(id),
  },
};

export interface OpenedClient {
  readonly client: TasksClient;
  readonly engine: ReturnType<typeof openClient>['engine'];
}

export interface Application {
  readonly server: TestServer;
  /** Opens a client of Ann's with a local database of its own, or with the one of the option `user`. */
  client(options?: Partial<TasksOptions>): TasksClient;
  /** Opens a client as `client` does, but with these limits, and returns it with its engine. */
  open(options?: Partial<TasksOptions>, limits?: Parameters<typeof openClient>[1]): OpenedClient;
  /** Returns what a tab without a network finds in a user's stored data. */
  stored<Found>(options: Partial<TasksOptions>, find: (tab: TasksClient) => Promise<Found>): Promise<Found>;
}

/** One server for a test file, and an empty database for each test. */
export function useApplication(options: ServerOptions = {}): Application {
  let server: TestServer;
  const clients: TasksClient[] = [];
  beforeAll(async () => {
    server = await startServer(options);
  });
  afterAll(() => server.close());
  beforeEach(() => server.pool.query('delete from list'));
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
  const application: Application = {
    get server() {
      return server;
    },
    client: (clientOptions) => application.open(clientOptions).client,
    open(clientOptions, limits) {
      const defaults: TasksOptions = {
        user: randomUUID(),
        url: server.url,
        auth: 'Bearer ann',
        kvStore: 'mem',
        mutators: optimistic,
      };
      const opened = openClient({ ...defaults, ...clientOptions } as never, limits) as unknown as OpenedClient;
      clients.push(opened.client);
      return opened;
    },
    async stored(clientOptions, find) {
      const tab = application.client(clientOptions);
      tab.setOnline(false);
      const found = await find(tab);
      await tab.close();
      return found;
    },
  };
  return application;
}
