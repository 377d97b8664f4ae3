/** Mutators on a fresh database, served to REST callers by `createSync`. */
import { z } from 'zod';
import { MutatorError } from '../../../packages/tidemark/src/errors.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import type { SyncOptions } from '../../../packages/tidemark/src/sync-options.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog, silent } from '../../support/log.js';
import { wholeTable } from '../../support/synced.js';

const ddl = `
  create table note (id text primary key, owner_id text not null, body text not null default '', at float8 unique deferrable initially deferred)`;

/** Lets a test inspect and delay a running mutator. */
export interface Hooks {
  /** Called by `hook`, with its args. */
  onHook: (args: unknown) => unknown;
}

function createMutators(hooks: Hooks) {
  const id = z.object({ id: z.string().min(1) });
  return defineMutators({
    note: {
      create: defineMutator(id.extend({ body: z.string().default('new') }), async ({ tx, args, ctx }) => {
        await tx.query('insert into note (id, owner_id, body) values ($1, $2, $3)', [args.id, ctx.userID, args.body]);
      }),
      count: defineMutator(
        z.undefined(),
        async ({ tx, ctx }) => {
          const { rows } = await tx.query('select count(*)::int as notes from note where owner_id = $1', [ctx.userID]);
          return rows[0];
        },
        { result: z.object({ notes: z.number() }) },
      ),
      refuse: defineMutator(id, async ({ tx, args, ctx }) => {
        await tx.query('insert into note (id, owner_id) values ($1, $2)', [args.id, ctx.userID]);
        throw new MutatorError('The note is locked', { status: 409, details: { by: 'ben' } });
      }),
      at: defineMutator(z.object({ id: z.string(), at: z.number() }), async ({ tx, args, ctx }) => {
        await tx.query('insert into note (id, owner_id, at) values ($1, $2, $3)', [args.id, ctx.userID, args.at]);
      }),
    },
    hook: defineMutator(({ args }) => hooks.onHook(args)),
    'deep.er.name': defineMutator(() => 'deep'),
    driver: defineMutator(({ tx }) => tx.query('select 1 as secret')),
    'odd ~/name': defineMutator(() => 'odd'),
  });
}

export interface Served {
  readonly database: TestDatabase;
  readonly sync: Sync;
  readonly lines: LogLine[];
  readonly hooks: Hooks;
  /** Posts args as JSON to a path below `/api/mutators`. Without args, it sends no body. */
  call(path: string, args?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Sends any request, by default as ann. */
  send(path: string, init?: RequestInit): Promise<Response>;
  notes(): Promise<string[]>;
  close(): Promise<void>;
}

export async function serve(
  options: Partial<Omit<SyncOptions<{ userID: string }, never>, 'database' | 'views' | 'mutators'>> = {},
): Promise<Served> {
  const database = await createEmptyDatabase();
  await database.pool.query(ddl);
  const views = wholeTable('note');
  await migrate({ database: database.url, views, log: silent });
  const hooks: Hooks = { onHook: (args) => args };
  const { log, lines } = memoryLog();
  const sync = await createSync({
    database: database.url,
    views,
    mutators: createMutators(hooks),
    authenticate: (request) => {
      const userID = request.headers.get('Authorization')?.replace('Bearer ', '');
      return userID ? { userID } : null;
    },
    log,
    ...(options as object),
  });
  const send = (path: string, { headers, ...init }: RequestInit = {}) =>
    sync.fetch(
      new Request(`http://localhost${path}`, { headers: { Authorization: 'Bearer ann', ...headers }, ...init }),
    );
  return {
    database,
    sync,
    lines,
    hooks,
    send,
    call: (path, args, headers = {}) =>
      send(`/api/mutators${path}`, {
        method: 'POST',
        headers: { ...(args !== undefined && { 'Content-Type': 'application/json' }), ...headers },
        ...(args !== undefined && { body: JSON.stringify(args) }),
      }),
    async notes() {
      const { rows } = await database.pool.query<{ id: string }>('select id from note order by id');
      return rows.map((row) => row.id);
    },
    async close() {
      await sync.close();
      await database.drop();
    },
  };
}
