/** Notes on a fresh database, for code of the server and for REST callers. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { z } from 'zod';
import {
  createSync,
  defineMutators,
  MutatorError,
  migrate,
  mutatorFor,
  Problem,
  sql,
  type TypedSync,
  type UserAccess,
  type UserContext,
  viewFor,
} from '../../../packages/tidemark/src/index.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog, silent } from '../../support/log.js';

export interface Context extends UserContext {
  readonly team?: string;
}

const ddl = `
  create table note (id integer primary key, owner_id text not null, body text not null, at timestamptz default 'epoch');
  create table tag (note text, name text, owner_id text not null, primary key (note, name))`;

const defineView = viewFor<Context>();
const note = sql<{ id: number; body: string; at: Date }>;
const tag = sql<{ note: string; name: string }>;
const views = {
  note: defineView({
    query: ({ ctx }) => note`select id, body, at from note where owner_id = ${ctx.userID}`,
    key: 'id',
    timestamps: 'UTC',
  }),
  tag: defineView({
    query: ({ ctx }) => tag`select note, name from tag where owner_id = ${ctx.userID}`,
    key: ['note', 'name'],
  }),
  version: defineView({
    query: ({ ctx, profileID, schemaVersion }) =>
      sql<{ id: number }>`select id, ${profileID}::text as profile, ${schemaVersion}::text as version
        from note where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
};

const defineMutator = mutatorFor<Context>();
const noteArgs = z.object({ id: z.number(), body: z.string().default('new') });

/** Lets a test say what the mutator `hook.deep` does. */
export const hooks: { onHook: (call: { readonly args: unknown; readonly ctx: Context }) => unknown } = {
  onHook: () => {},
};

const insert = 'insert into note (id, owner_id, body) values ($1, $2, $3)';
const mutators = defineMutators({
  note: {
    create: defineMutator(noteArgs, async ({ tx, args, ctx }) => {
      await tx.query(insert, [args.id, ctx.userID, args.body]);
    }),
    count: defineMutator(async ({ tx }) => (await tx.query('select count(*) from note')).rows[0].count, {
      result: z.string().transform((count) => ({ notes: Number(count), at: new Date(0) })),
    }),
    refuse: defineMutator(noteArgs, async ({ tx, args, ctx }) => {
      await tx.query(insert, [args.id, ctx.userID, args.body]);
      throw new MutatorError('The note is locked', { status: 409, details: { by: 'ben' } });
    }),
  },
  'hook.deep': defineMutator((call) => hooks.onHook(call)),
  driver: defineMutator(({ tx }) => tx.query('select 1 as secret')),
});

export interface Server {
  readonly sync: TypedSync<Context, typeof mutators, typeof views>;
  readonly lines: LogLine[];
  /** Sends a request as ann: a call if it has args. */
  send(path: string, args?: unknown): Promise<Response>;
  as(userID?: string): UserAccess<typeof mutators, typeof views>;
}

export interface Application {
  readonly database: TestDatabase;
  /** The server that all tests of a file share. */
  readonly server: Server;
  /** Starts another server. */
  serve(options?: object): Promise<Server>;
}

async function serve(database: TestDatabase, options: object = {}): Promise<Server> {
  const { log, lines } = memoryLog();
  const sync = await createSync({
    database: database.url,
    views,
    mutators,
    authenticate: (): Context => ({ userID: 'ann' }),
    auditLogRetentionSeconds: 60,
    metrics: 'public',
    log,
    ...options,
  });
  const send = (path: string, args?: unknown) => {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(args) };
    return sync.fetch(new Request(`http://localhost${path}`, args === undefined ? {} : init));
  };
  return { sync, lines, send, as: (userID = 'ann') => sync.as({ userID }) };
}

/** Sets up the application for the tests of a file. */
export function setUpApplication(): Application {
  let database: TestDatabase;
  let server: Server;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query(ddl);
    await migrate({ database: database.url, views, log: silent });
    server = await serve(database);
  });
  afterAll(async () => {
    await server.sync.close();
    await database.drop();
  });
  beforeEach(async () => {
    server.lines.length = 0;
    await database.pool.query('truncate note, tag, tidemark.audit_log');
  });
  return {
    get database() {
      return database;
    },
    get server() {
      return server;
    },
    serve: (options) => serve(database, options),
  };
}

/** The Problem that a promise rejects with, as the body of an HTTP response has it. */
export async function problemOf(work: Promise<unknown>): Promise<object> {
  const problem = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(problem instanceof Problem)) throw new Error('This is no Problem', { cause: problem });
  const { code, status, message: detail, extensions } = problem;
  return { code, status, detail, ...extensions };
}

/** The part of an HTTP response's body that identifies the Problem. */
export async function problemIn(response: Response): Promise<object> {
  const { type: _, title, error, requestID, ...problem } = (await response.json()) as Record<string, unknown>;
  return problem;
}
