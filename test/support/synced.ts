/** A database with client views that are captured and can be pulled, and a client to hold what pulls answer. */
import type pg from 'pg';
import type { Database } from '../../src/db/database.js';
import { openPool } from '../../src/db/pg.js';
import { gatesFor } from '../../src/gates.js';
import type { JSONAnswer } from '../../src/http/answer.js';
import { toProblem } from '../../src/http/problem.js';
import { CurrentInstallation } from '../../src/installation/current-installation.js';
import { type Installation, narrow, readInstallation } from '../../src/installation/installation.js';
import { migrate } from '../../src/migrate.js';
import type { PullRequest } from '../../src/protocol/pull.js';
import { Auditor } from '../../src/pulls/auditor.js';
import { createPulls, type Pulls, pullRoute, type ReadRequest } from '../../src/pulls/pull-route.js';
import type { Pulled } from '../../src/pulls/pulled.js';
import { ClientViews } from '../../src/view/client-views.js';
import { defineView, type View, type Views } from '../../src/view/define.js';
import { Looks } from '../../src/window/looks.js';
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

/** A server's half that answers pulls. */
export class PullServer {
  readonly lines = memoryLog();
  readonly #db;
  readonly #pulls: Pulls<Context>;
  readonly auditor: Auditor;

  /**
   * @param source a connection string, or a pool, which stays open
   * @param watch stands between the pulls and the database
   * @param audit the part of all client groups that is sampled
   */
  constructor(
    source: string | pg.Pool,
    views: Views<Context>,
    watch: (db: Database) => Database = (db) => db,
    audit = 0,
  ) {
    this.#db = openPool(source, { max: 3 });
    const installation = new CurrentInstallation(this.#db, new ClientViews(this.#db, views));
    const database = watch(this.#db);
    this.auditor = new Auditor(database, audit);
    const looks = new Looks(database, installation, 100_000);
    const gates = gatesFor(database.connections);
    const { auditor } = this;
    this.#pulls = createPulls({ db: database, gates, installation, looks, auditor });
  }

  async pull(cookie: unknown, request: Partial<PullRequest> = {}, userID = 'ada'): Promise<PullAnswer> {
    return JSON.parse(await textOf(await this.answer(cookie, request, userID))) as PullAnswer;
  }

  /** The answer, unread. */
  async answer(cookie: unknown, request: Partial<PullRequest> = {}, userID = 'ada'): Promise<JSONAnswer> {
    const pulling = pullRoute<Context>(this.#pulls.pull, undefined)(
      { clientGroupID: 'group', profileID: 'profile', schemaVersion: '', cookie, ...request },
      { context: { userID }, requestID: '', log: this.lines.log },
    );
    // As its endpoint would tell.
    const answer = await pulling.catch((error: unknown) => Promise.reject(toProblem(error)));
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  }

  /** What is read without a client group. It must be read to its end, or closed. */
  read(request: Pick<ReadRequest, 'part' | 'form' | 'cookie'>, userID = 'ada'): Promise<Pulled> {
    return this.#pulls.read(
      { profileID: 'profile', schemaVersion: '', isFollowing: false, ...request },
      { context: { userID }, requestID: '', log: this.lines.log },
    );
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

/** The pieces of an answer that has any. */
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

  /** @param server to ask in place of its own */
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

  /** What it holds, by key. */
  held(): Record<string, unknown> {
    return Object.fromEntries([...this.rows].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** What a new client is told. */
export async function fullRead(server: PullServer): Promise<Record<string, unknown>> {
  const client = new SyncClient(server);
  await client.pull();
  return client.held();
}

/** A fresh database in which `ddl` has been run and the views are captured. */
export async function createSynced<C extends Context>(ddl: string, views: Views<C>): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await database.pool.query(ddl);
  await migrate({ database: database.pool, views, log: silent });
  return database;
}

/** The installation as a server that starts now would read it for these views. */
export async function installationOf(source: string | pg.Pool, views: Views<Context>): Promise<Installation> {
  const db = openPool(source, { max: 1 });
  try {
    const input = { ctx: { userID: 'ada' }, profileID: '', schemaVersion: '' };
    const bound = await new ClientViews(db, views).bind(input, '');
    const tables = new Map(bound.flatMap((view) => view.tables).map((table) => [table.oid, table]));
    return narrow(await readInstallation(db, [...tables.values()]), [...tables.values()]);
  } finally {
    await db.close();
  }
}
