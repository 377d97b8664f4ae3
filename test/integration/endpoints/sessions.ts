/** Servers on one database whose users have sessions in a table: what they hold open for users, and how it ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import type { SyncOptions } from '../../../packages/tidemark/src/sync-options.js';
import { type Views, viewFor } from '../../../packages/tidemark/src/view/define.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog, silent } from '../../support/log.js';

const ddl = `
  create table note (id serial primary key, owner_id text not null, body text not null);
  create table session (token text primary key, user_id text not null, role text)`;

/** The contents of a session. */
export interface Session extends UserContext {
  readonly role: string | null;
}

const views: Views<Session> = {
  note: viewFor<Session>()<{ id: number }>({
    query: ({ ctx }) =>
      ctx.role === 'auditor'
        ? sql`select id, owner_id, body from note`
        : sql`select id, owner_id, body from note where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
};

type Options = Partial<Pick<SyncOptions<Session, never>, 'rates' | 'reauthenticationSeconds' | 'pokes'>>;

/** A server that looks up sessions. */
export interface SessionServer {
  readonly sync: Sync<Session>;
  readonly lines: readonly LogLine[];
  /** The number of calls of `authenticate` for each session. */
  readonly authentications: ReadonlyMap<string, number>;
  /** The methods and URLs of all requests that `authenticate` was called for. */
  readonly requests: ReadonlySet<string>;
  /** Awaited by `authenticate` after it has found a session. `authenticate` rejects with its error. */
  afterSession: () => Promise<void>;
  send(path: string, token: string, init?: RequestInit): Promise<Response>;
  /** Opens a stream of pokes. */
  pokes(token: string): Promise<OpenStream>;
  /** Opens a stream of notes, and waits for its first event. */
  notes(token: string): Promise<OpenStream>;
  /** Starts waiting for a change of the notes. */
  wait(token: string): Promise<{ readonly answer: Promise<Response> }>;
  subscribers(): Promise<number>;
}

/** A stream that is being read. */
export interface OpenStream {
  /** All text so far. */
  text(): string;
  /** Waits until the server has ended it. */
  ended(): Promise<void>;
}

export interface Sessions {
  readonly database: TestDatabase;
  logIn(token: string, userID: string, role?: string): Promise<void>;
  write(owner: string, body: string): Promise<void>;
  run(text: string): Promise<unknown>;
  start(options?: Options): Promise<SessionServer>;
  close(): Promise<void>;
}

export async function createSessions(): Promise<Sessions> {
  const database = await createTestDatabase();
  await database.pool.query(ddl);
  await migrate({ database: database.pool, views, log: silent });
  const run = (text: string, values: unknown[] = []) => database.pool.query(text, values);
  return {
    database,
    run,
    logIn: async (token, userID, role) =>
      void (await run('insert into session values ($1, $2, $3)', [token, userID, role ?? null])),
    write: async (owner, body) => void (await run('insert into note (owner_id, body) values ($1, $2)', [owner, body])),
    start: (options) => startServer(database, options),
    close: () => database.drop(),
  };
}

async function startServer({ url, pool }: TestDatabase, options: Options = {}): Promise<SessionServer> {
  const { log, lines } = memoryLog();
  const authentications = new Map<string, number>();
  const requests = new Set<string>();
  /** The number of times that `authenticate` has accepted a waiting request. */
  let confirmedWaits = 0;
  const sync = await createSync<Session>({
    database: url,
    views,
    log,
    pokes: { intervalMs: 20 },
    reauthenticationSeconds: 3_600,
    ...options,
    async authenticate({ headers, url: address, method }) {
      requests.add(`${method} ${address}`);
      const token = headers.get('Authorization')!;
      authentications.set(token, (authentications.get(token) ?? 0) + 1);
      const { rows } = await pool.query('select user_id as "userID", role from session where token = $1', [token]);
      await server.afterSession();
      if (headers.has('Prefer')) confirmedWaits++;
      return rows[0] ?? null;
    },
  });
  onTestFinished(() => sync.close());
  const send: SessionServer['send'] = (path, token, init = {}) =>
    sync.fetch(new Request(`http://localhost${path}`, { ...init, headers: { Authorization: token, ...init.headers } }));
  const subscribers = async () => {
    const answer = await sync.fetch(new Request('http://localhost/readyz'));
    return ((await answer.json()) as { pokes: { subscribers: number } }).pokes.subscribers;
  };
  const server: SessionServer = {
    sync,
    lines,
    authentications,
    requests,
    afterSession: async () => {},
    send,
    subscribers,
    pokes: async (token) => reading(await send('/sync/poke?clientGroupID=g&profileID=p', token)),
    async notes(token) {
      const stream = reading(
        await send('/api/views/note?profileID=p', token, { headers: { Accept: 'text/event-stream' } }),
      );
      await vi.waitFor(() => {
        if (!stream.text().includes('event: patch')) throw new Error('The first event has not come');
      }, 10_000);
      return stream;
    },
    async wait(token) {
      const etag = (await send('/api/views/note?profileID=p', token)).headers.get('ETag')!;
      const before = { subscribers: await subscribers(), confirmedWaits };
      const headers = { Prefer: 'wait=60', 'If-None-Match': etag };
      const answer = send('/api/views/note?profileID=p', token, { headers });
      await vi.waitFor(async () => {
        // The server authenticates the request when it arrives, and again when it subscribes.
        const isConfirmed = confirmedWaits >= before.confirmedWaits + 2;
        if (!isConfirmed || (await subscribers()) <= before.subscribers)
          throw new Error('The request does not wait yet');
      }, 10_000);
      return { answer };
    },
  };
  return server;
}

/** Resolves with the promise's result, within a limited time. */
export async function soon<T>(promise: Promise<T>, otherwise: string): Promise<T> {
  const late = new AbortController();
  const timeout = sleep(10_000, undefined, { signal: late.signal }).then(() => {
    throw new Error(otherwise);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    timeout.catch(() => {});
    late.abort();
  }
}

/** Reads the events of a stream as they arrive. */
function reading(response: Response): OpenStream {
  if (response.status !== 200) throw new Error(`The stream has the status ${response.status}`);
  let text = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) text += decoder.decode(chunk, { stream: true });
  };
  const ending = read();
  return { text: () => text, ended: () => soon(ending, 'The stream goes on') };
}
