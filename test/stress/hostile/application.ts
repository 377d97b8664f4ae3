/** The application whose calls are counted. Each execution is a row, which reveals calls that are applied twice. */
import type pg from 'pg';
import { z } from 'zod';
import {
  createSync,
  defineMutator,
  defineMutators,
  defineView,
  MutatorError,
  migrate,
  sql,
} from '../../../packages/tidemark/src/index.js';
import { listenWithFiles, type ServedFiles } from '../../e2e/browser/served-files.js';
import { createEmptyDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';

const schema = `
  create table execution (call_id text not null);
  create index on execution (call_id);
  create table entry (id text primary key, owner_id text not null, executions int not null, bytes int not null);
  create index on entry (owner_id);`;

const execution = 'insert into execution values ($1)';

export const views = {
  entry: defineView({
    query: ({ ctx }) => sql<{ id: string; executions: number; bytes: number }>`
      select id, executions, bytes from entry where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
};

export const mutators = defineMutators({
  entry: {
    add: defineMutator(z.object({ id: z.string(), body: z.string() }), async ({ tx, ctx, args: { id, body } }) => {
      await tx.query(execution, [id]);
      await tx.query(
        'insert into entry values ($1, $2, 1, $3) on conflict (id) do update set executions = entry.executions + 1',
        [id, ctx.userID, body.length],
      );
    }),
    remove: defineMutator(z.object({ id: z.string(), target: z.string() }), async ({ tx, ctx, args }) => {
      await tx.query(execution, [args.id]);
      await tx.query('delete from entry where id = $1 and owner_id = $2', [args.target, ctx.userID]);
    }),
    refuse: defineMutator(z.object({ id: z.string() }), async ({ tx, args }) => {
      await tx.query(execution, [args.id]);
      throw new MutatorError('Refused on purpose');
    }),
  },
});

export interface Application {
  /** Without a trailing slash. */
  readonly url: string;
  /** The number of executions of each call. */
  executions(): Promise<Map<string, number>>;
  /** The last confirmed mutation of each client, by the client's ID. */
  confirmed(): Promise<Map<string, number>>;
  /** The rows of the view that a user's client must show, by their IDs. */
  entries(user: string): Promise<string[]>;
  close(): Promise<void>;
}

/** Serves the application, and the files of a page beside it. */
export async function serveApplication(files: ServedFiles): Promise<Application> {
  const database = await createEmptyDatabase();
  const { pool } = database;
  await pool.query(schema);
  await migrate({ database: database.url, views, log: silent });
  const { log } = memoryLog();
  // The bearer token is `user/slot`, and the proxy identifies clients by the slot.
  const authenticate = (request: Request) => {
    const userID = /^Bearer (.+)\/\d+$/.exec(request.headers.get('Authorization') ?? '')?.[1];
    return userID === undefined ? null : { userID };
  };
  const sync = await createSync({ database: database.url, views, mutators, authenticate, log });
  const server = await listenWithFiles(sync, files, log);
  return {
    url: server.url,
    executions: () => countExecutions(pool),
    async confirmed() {
      const { rows } = await pool.query<{ id: string; last: number }>(
        'select id, last_mutation_id::int as last from tidemark.client',
      );
      return new Map(rows.map(({ id, last }) => [id, last]));
    },
    async entries(user) {
      const { rows } = await pool.query<{ id: string; executions: number; bytes: number }>(
        'select id, executions, bytes from entry where owner_id = $1 order by id collate "C"',
        [user],
      );
      return rows.map(({ id, executions, bytes }) => `${id} ${executions} ${bytes}`);
    },
    async close() {
      await server.close();
      await database.drop();
    },
  };
}

async function countExecutions(pool: pg.Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ id: string; count: number }>(
    'select call_id as id, count(*)::int as count from execution group by call_id',
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}
