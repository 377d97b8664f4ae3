/** An application whose issues are wanted by project. Its requests can be recorded, held back and cut off. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { z } from 'zod';
import { openClient } from '../../../packages/client/src/create-client.js';
import type { Client, ClientOptions } from '../../../packages/client/src/index.js';
import {
  createSync,
  defineMutator,
  defineMutators,
  defineView,
  MutatorError,
  migrate,
  type Sync,
  sql,
} from '../../../packages/tidemark/src/index.js';
import { listen } from '../../../packages/tidemark/src/node.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';

export interface Issue {
  readonly id: string;
  readonly projectID: string;
  readonly title: string;
}

/** The views of one stage each: what comes first, the issues, and what comes last. */
const views = {
  project: defineView({ query: () => sql<{ id: string; name: string }>`select id, name from project`, key: 'id' }),
  issue: defineView({
    args: z.object({
      projectID: z.union([z.string().min(1), z.int()]).transform(String),
      open: z.boolean().optional(),
    }),
    query: ({ args }) => sql<Issue>`
      select id, project_id as "projectID", title from issue
      where project_id = ${args.projectID} and (open = ${args.open ?? null} or ${args.open ?? null}::boolean is null)`,
    key: 'id',
    priority: 1,
  }),
  label: defineView({ query: () => sql<{ id: string }>`select id from label`, key: 'id', priority: 2 }),
};

const mutators = defineMutators({
  issue: {
    create: defineMutator(
      z.object({ id: z.string(), projectID: z.string(), title: z.string() }),
      async ({ tx, args: { id, projectID, title } }) => {
        if (!title) throw new MutatorError('A title is missing');
        await tx.query(
          `insert into issue (id, project_id, title) values ($1, $2, $3)
           on conflict (id) do update set project_id = excluded.project_id, title = excluded.title`,
          [id, projectID, title],
        );
      },
    ),
  },
});

/** The most wants that the server serves to a client. */
export const maxWants = 3;

export type IssuesClient = Client<typeof mutators, typeof views>;
type IssuesOptions = ClientOptions<typeof mutators, typeof views>;

interface Want {
  readonly view: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface Pull {
  readonly authorization: string | null;
  readonly cookie: unknown;
  readonly wants: readonly Want[];
  readonly stages: boolean;
}

interface PokeStream {
  readonly method: string;
  readonly wants: readonly Want[];
  /** Aborted when the client has closed the stream. */
  readonly signal: AbortSignal;
}

/** The way from a test's clients to the server. */
export class Connection {
  readonly #sync: Sync;
  /** The pulls that the server is answering. */
  #running = 0;
  /** The pulls so far. */
  readonly pulls: Pull[] = [];
  /** The requests for streams of pokes so far. */
  readonly pokes: PokeStream[] = [];
  /** Returns what a pull waits for before the server receives it. */
  hold = (_: Pull): Promise<void> | undefined => undefined;
  /** True to answer pulls as a standby does that lags. */
  isBehind = false;

  constructor(sync: Sync) {
    this.#sync = sync;
  }

  /** The projects whose issues the pulls want, a list for each pull. */
  get wanted(): unknown[][] {
    return this.pulls.map(({ wants }) => wants.map(({ args }) => args.projectID));
  }

  /** Waits until the clients have stopped pulling. */
  async settled(): Promise<void> {
    for (let count = -1; count < this.pulls.length || this.#running > 0; await sleep(300)) count = this.pulls.length;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === '/sync/poke') {
      const { method, signal } = request;
      const { wants } = method === 'POST' ? ((await request.clone().json()) as PokeStream) : { wants: [] };
      this.pokes.push({ method, wants, signal });
    }
    if (pathname !== '/sync/pull') return this.#sync.fetch(request);
    const body = (await request.clone().json()) as Omit<Pull, 'authorization'>;
    const pull = { ...body, authorization: request.headers.get('Authorization') };
    this.pulls.push(pull);
    await this.hold(pull);
    this.#running++;
    try {
      if (!this.isBehind) return await this.#sync.fetch(request);
      return Response.json({ cookie: pull.cookie, lastMutationIDChanges: {}, patch: [], behind: true });
    } finally {
      this.#running--;
    }
  };
}

export interface Opened {
  readonly server: Connection;
  /** Changes the data on the server. */
  sql(text: string): Promise<unknown>;
  /** Opens a client with a local database of its own, or with the one of the option `user`. */
  open(options?: Partial<IssuesOptions>): IssuesClient;
  /** Breaks all connections. */
  cut(): void;
}

/** One server for a test file. Returns a function that connects a test's clients to it, and sets its issues. */
export function useIssues(): (issues: readonly Issue[]) => Promise<Opened> {
  let database: TestDatabase;
  let sync: Sync;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query(`
      create table project (id text primary key, name text not null);
      create table issue (id text primary key, project_id text not null, title text not null, open boolean not null default true);
      create table label (id text primary key);
      create index on issue (project_id);
      insert into label values ('urgent')`);
    await migrate({ database: database.url, views, log: silent });
    const authenticate = () => ({ userID: 'ann' });
    const limits = { wants: maxWants };
    sync = await createSync({ database: database.url, views, mutators, authenticate, limits, log: silent });
  });
  afterAll(async () => {
    await sync.close();
    await database.drop();
  });
  return async (issues) => {
    const { pool } = database;
    await pool.query(`delete from issue; delete from project; insert into project values ('1', 'Garden')`);
    for (const { id, projectID, title } of issues) {
      await pool.query('insert into issue (id, project_id, title) values ($1, $2, $3)', [id, projectID, title]);
    }
    const server = new Connection(sync);
    const service = { fetch: server.fetch, close: async () => {} };
    const listening = await listen(service, {
      log: silent,
      port: 0,
      hostname: '127.0.0.1',
      signals: false,
      drainMs: 0,
    });
    onTestFinished(() => listening.close());
    return {
      server,
      sql: (text) => pool.query(text),
      open(options) {
        const defaults: IssuesOptions = {
          user: randomUUID(),
          url: listening.url,
          kvStore: 'mem',
          pullInterval: null,
          mutators: { issue: { create: (tx, issue) => tx.view('issue').set(issue.id, issue) } },
        };
        const { client } = openClient({ ...defaults, ...options } as never) as unknown as { client: IssuesClient };
        onTestFinished(() => client.close());
        return client;
      },
      cut: () => listening.server.closeAllConnections(),
    };
  };
}
