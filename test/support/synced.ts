/** A database with captured client views that can be pulled, and a client that holds the results of pulls. */
import type pg from 'pg';
import { ChangeLogPoller } from '../../packages/tidemark/src/change-log/change-log-poller.js';
import type { Database } from '../../packages/tidemark/src/db/database.js';
import { openPool } from '../../packages/tidemark/src/db/pg.js';
import { toAnswer } from '../../packages/tidemark/src/endpoints/pulls/pull-service.js';
import type { JSONAnswer } from '../../packages/tidemark/src/http/answer.js';
import { toProblem } from '../../packages/tidemark/src/http/problem.js';
import { semaphoresFor } from '../../packages/tidemark/src/limits/semaphores.js';
import { migrate } from '../../packages/tidemark/src/migrate.js';
import type { PullRequest } from '../../packages/tidemark/src/protocol/pull.js';
import { ConsistencyChecker } from '../../packages/tidemark/src/pulls/consistency-checker.js';
import { Puller } from '../../packages/tidemark/src/pulls/pull.js';
import type { PullResult } from '../../packages/tidemark/src/pulls/pull-result.js';
import { pullSession, type ReadRequest, readSession } from '../../packages/tidemark/src/pulls/session.js';
import { SchemaCache } from '../../packages/tidemark/src/schema/schema-cache.js';
import { narrow, readSchemaState, type SchemaState } from '../../packages/tidemark/src/schema/schema-state.js';
import { ClientViews } from '../../packages/tidemark/src/view/client-views.js';
import { defineView, type View, type Views } from '../../packages/tidemark/src/view/define.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { memoryLog, silent } from './log.js';

export interface Context {
  readonly userID: string;
}

export interface PullAnswer {
  readonly cookie: unknown;
  readonly lastMutationIDChanges: Readonly<Record<string, number>>;
  readonly patch: readonly Op[];
}

export type Op =
  | { readonly op: 'clear' }
  | { readonly op: 'put'; readonly key: string; readonly value: unknown }
  | { readonly op: 'del'; readonly key: string };

/** A view of a whole table. */
export function tableView(table: string, key: string | readonly string[] = 'id', prefix = ''): View<Context> {
  return defineView<Record<string, unknown>>({
    query: () => ({ text: `select * from ${table}`, values: [] }),
    key,
    prefix,
  });
}

export function wholeTable(table: string, key?: string | readonly string[]): Views<Context> {
  return { whole: tableView(table, key) };
}

/** The part of a server that answers pulls. */
export class PullServer {
  readonly lines = memoryLog();
  readonly #db;
  readonly #puller: Puller<Context>;
  readonly consistencyChecker: ConsistencyChecker;

  /**
   * @param database a connection string, or a pool, which stays open
   * @param watch wraps the database that pulls use
   * @param consistencyChecks the fraction of all client groups that is checked for consistency
   */
  constructor(
    database: string | pg.Pool,
    views: Views<Context>,
    watch: (db: Database) => Database = (db) => db,
    consistencyChecks = 0,
  ) {
    this.#db = openPool(database, { max: 3 });
    const schemaCache = new SchemaCache(this.#db, new ClientViews(this.#db, views));
    const watched = watch(this.#db);
    this.consistencyChecker = new ConsistencyChecker(watched, consistencyChecks);
    const poller = new ChangeLogPoller(watched, schemaCache, 100_000);
    const semaphores = semaphoresFor(watched.connections);
    const { consistencyChecker } = this;
    this.#puller = new Puller({
      db: watched,
      semaphores,
      schemaCache,
      poller,
      consistencyChecker,
    });
  }

  /** @param signal aborts when the client disconnects */
  async pull(
    cookie: unknown,
    request: Partial<PullRequest> = {},
    userID = 'ada',
    signal?: AbortSignal,
  ): Promise<PullAnswer> {
    return JSON.parse(await textOf(await this.answer(cookie, request, userID, signal))) as PullAnswer;
  }

  /** The response, unread. */
  async answer(
    cookie: unknown,
    request: Partial<PullRequest> = {},
    userID = 'ada',
    signal?: AbortSignal,
  ): Promise<JSONAnswer> {
    const pullRequest = { clientGroupID: 'group', profileID: 'profile', schemaVersion: '', cookie, ...request };
    const caller = { context: { userID }, requestID: '', log: this.lines.log, request: signal && { signal } };
    // As its endpoint does.
    const result = await this.#puller
      .pull(pullSession(pullRequest, caller))
      .catch((error: unknown) => Promise.reject(toProblem(error)));
    const answer = toAnswer(pullRequest, result, caller);
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  }

  /** Reads without a client group. The result must be read to its end, or closed. */
  read(request: Pick<ReadRequest, 'part' | 'format' | 'cookie'>, userID = 'ada'): Promise<PullResult> {
    const readRequest = { profileID: 'profile', schemaVersion: '', isFollowing: false, ...request };
    return this.#puller.pull(readSession(readRequest, { context: { userID }, requestID: '', log: this.lines.log }));
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

/** The pieces of a response that consists of pieces. */
export function piecesOf(answer: JSONAnswer): AsyncIterable<Uint8Array> {
  if (answer.kind === 'json') throw new Error('The answer is whole');
  return answer.pieces;
}

export async function textOf(answer: JSONAnswer): Promise<string> {
  if (answer.kind === 'json') return answer.text;
  const chunks: Uint8Array[] = [];
  for await (const chunk of piecesOf(answer)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Applies patches as Replicache does. */
export class SyncClient {
  readonly #server: Pick<PullServer, 'pull'>;
  cookie: unknown = null;
  readonly rows = new Map<string, unknown>();

  constructor(server: Pick<PullServer, 'pull'>) {
    this.#server = server;
  }

  /** @param server to pull from, instead of its own */
  async pull(server = this.#server): Promise<PullAnswer> {
    const answer = await server.pull(this.cookie);
    for (const op of answer.patch) {
      if (op.op === 'clear') this.rows.clear();
      else if (op.op === 'put') this.rows.set(op.key, op.value);
      else this.rows.delete(op.key);
    }
    this.cookie = answer.cookie;
    return answer;
  }

  /** The data that it holds, by key. */
  held(): Record<string, unknown> {
    return Object.fromEntries([...this.rows].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** The data that a new client receives. */
export async function fullRead(server: PullServer): Promise<Record<string, unknown>> {
  const client = new SyncClient(server);
  await client.pull();
  return client.held();
}

/** Creates a database, runs `ddl` in it, and captures the views. */
export async function createSynced<C extends Context>(ddl: string, views: Views<C>): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.pool.query(ddl);
  await migrate({ database: database.pool, views, log: silent });
  return database;
}

/** The schema state as a server that starts now would read it for these views. */
export async function installationOf(database: string | pg.Pool, views: Views<Context>): Promise<SchemaState> {
  const db = openPool(database, { max: 1 });
  try {
    const input = { ctx: { userID: 'ada' }, profileID: '', schemaVersion: '' };
    const resolved = await new ClientViews(db, views).resolve(input, '');
    const tables = new Map(resolved.flatMap((view) => view.tables).map((table) => [table.oid, table]));
    return narrow(await readSchemaState(db, [...tables.values()]), [...tables.values()]);
  } finally {
    await db.close();
  }
}
