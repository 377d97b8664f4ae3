/** Views on a fresh database, served by `createSync`, and requests that read them. */
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import type { SyncOptions } from '../../../packages/tidemark/src/sync-options.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog, silent } from '../../support/log.js';
import type { Context, Op } from '../../support/synced.js';

const ddl = `
  create table note (id integer primary key, owner_id text not null, body text not null, data json, big bigint);
  create index on note (owner_id);
  create table tag (note_id integer not null, name text not null, owner_id text not null, primary key (note_id, name));
  create collation caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table price (id text primary key, amount numeric not null, unit text collate caseless)`;

const views: Views<Context> = {
  note: defineView<{ id: number }>({
    query: ({ ctx }) => sql`select id, body, data, big from note where owner_id = ${ctx.userID}`,
    key: 'id',
  }),
  tag: defineView<{ note_id: number; name: string }>({
    query: ({ ctx }) => sql`select note_id, name from tag where owner_id = ${ctx.userID}`,
    key: ['note_id', 'name'],
  }),
  newest: defineView<{ id: number }>({
    query: ({ ctx }) => sql`select id, body from note where owner_id = ${ctx.userID} order by id desc limit 2`,
    key: 'id',
    prefix: 'new/',
  }),
  'odd ~/name': defineView<{ owner: string }>({
    query: ({ profileID, schemaVersion }) =>
      sql`select ${profileID}::text as profile, ${schemaVersion}::text as version, owner_id as owner
        from note where id = 1`,
    key: 'owner',
  }),
  // Several rows share a key, and the view shows one of them.
  amount: defineView<{ amount: string }>({ query: () => sql`select distinct amount from price`, key: 'amount' }),
  unit: defineView<{ unit: string }>({
    query: () => sql`select distinct unit from price where unit is not null`,
    key: 'unit',
  }),
};

export interface Viewed {
  readonly database: TestDatabase;
  readonly sync: Sync;
  readonly lines: LogLine[];
  /** Reads as ann, unless the headers say otherwise. */
  get(path: string, headers?: Readonly<Record<string, string>>, init?: RequestInit): Promise<Response>;
  run(text: string): Promise<unknown>;
  close(): Promise<void>;
}

type Options = Partial<Omit<SyncOptions<Context, never>, 'database' | 'views' | 'mutators'>>;

export async function serveViews(options: Options = {}): Promise<Viewed> {
  const database = await createEmptyDatabase();
  await database.pool.query(ddl);
  await migrate({ database: database.url, views, log: silent });
  const { log, lines } = memoryLog();
  const sync = await createSync({
    database: database.url,
    views,
    authenticate: (request) => {
      const userID = request.headers.get('Authorization')?.replace('Bearer ', '');
      return userID ? { userID } : null;
    },
    log,
    ...(options as object),
  });
  return {
    database,
    sync,
    lines,
    get: (path, headers = {}, init = {}) =>
      sync.fetch(
        new Request(`http://localhost${path}`, { ...init, headers: { Authorization: 'Bearer ann', ...headers } }),
      ),
    run: (text) => database.pool.query(text),
    async close() {
      await sync.close();
      await database.drop();
    },
  };
}

/** The response to `?since=`. */
export interface Ops {
  readonly cookie: string;
  readonly patch: readonly Op[];
}

/** Rows by key, after these ops. */
export function applied(rows: ReadonlyMap<string, unknown>, ops: readonly Op[]): Map<string, unknown> {
  const after = new Map(rows);
  for (const op of ops) {
    if (op.op === 'clear') after.clear();
    else if (op.op === 'put') after.set(op.key, op.value);
    else after.delete(op.key);
  }
  return after;
}

/** An event of a stream. */
export interface ServerEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

/** Reads the events of a response as a browser does. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #text = '';

  constructor(response: Response) {
    if (response.status !== 200) throw new Error(`The stream has the status ${response.status}`);
    this.#reader = response.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  /** The next event; undefined if the stream has ended. */
  async next(): Promise<ServerEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end < 0) {
        const { value, done } = await this.#reader.read();
        if (done) return undefined;
        this.#text += Buffer.from(value).toString('latin1');
        continue;
      }
      const lines = Buffer.from(this.#text.slice(0, end), 'latin1')
        .toString()
        .split(/\r\n|\r|\n/);
      this.#text = this.#text.slice(end + 2);
      const field = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      if (field('event').length > 0) {
        return { event: field('event')[0]!, id: field('id')[0]!, data: field('data').join('\n') };
      }
    }
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}
