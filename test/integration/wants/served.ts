/** An application whose views have arguments, and requests to it. */
import { z } from 'zod';
import { createSync, defineView, migrate, type Sync, sql } from '../../../packages/tidemark/src/index.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';

const views = {
  project: defineView({ query: () => sql<{ id: string }>`select id, name from project`, key: 'id' }),
  issue: defineView({
    args: z.object({ projectID: z.string() }),
    query: ({ ctx, args }) => sql<{ id: string; project_id: string; title: string }>`
      select i.id, i.project_id, i.title from issue i join member m on m.project_id = i.project_id
      where i.project_id = ${args.projectID} and m.user_id = ${ctx.userID}`,
    key: 'id',
    priority: 1,
  }),
  numbered: defineView({
    args: z.object({ from: z.int().min(0), to: z.int().default(3), tags: z.array(z.string()).optional() }),
    query: ({ args }) => sql<{ id: string; n: number }>`
      select id, n from numbered where n between ${args.from} and ${args.to} and (tag = any(${args.tags ?? null}) or ${args.tags ?? null}::text[] is null)`,
    key: 'id',
    priority: 2,
  }),
  byKey: defineView({
    args: z.object({ key: z.string() }),
    sampleArgs: { key: '00000000-0000-0000-0000-000000000000' },
    query: ({ args }) => sql<{ id: string }>`select id::text as id from keyed where id = ${args.key}`,
    key: 'id',
    priority: 2,
  }),
  /** Its query has another text for one argument, which no sample has. */
  worded: defineView({
    args: z.object({ name: z.string() }),
    query: ({ args }) =>
      args.name === 'any'
        ? sql<{ id: string }>`select id, name from project where name > ${args.name}`
        : sql<{ id: string }>`select id, name from project where name = ${args.name}`,
    key: 'id',
    priority: 2,
  }),
};

export interface Want {
  readonly view: string;
  readonly args: object;
}

export type Op =
  | { readonly op: 'clear' }
  | { readonly op: 'put'; readonly key: string; readonly value: unknown }
  | { readonly op: 'del'; readonly key: string };

export interface Answer {
  readonly cookie: { readonly parameters?: string };
  readonly patch: readonly Op[];
  readonly refusedWants?: readonly (Want & { readonly code: string; readonly message: string })[];
  readonly laterViews?: readonly string[];
}

export async function createTables(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  await database.pool.query(`
    create table project (id text primary key, name text not null);
    create table member (project_id text, user_id text, primary key (project_id, user_id));
    create table issue (id text primary key, project_id text not null, title text not null);
    create index on issue (project_id);
    create table numbered (id text primary key, n integer not null, tag text);
    create table keyed (id uuid primary key);
    insert into project select 'p' || n, 'Project ' || n from generate_series(1, 3) n;
    insert into member select 'p' || n, 'ann' from generate_series(1, 2) n;
    insert into issue select 'i' || n, 'p' || 1 + n % 3, 'Issue ' || n from generate_series(1, 9) n;
    insert into numbered select 'n' || n, n, case when n % 2 = 0 then 'even' else 'odd' end from generate_series(1, 9) n;
    insert into keyed values ('00000000-0000-0000-0000-000000000001')`);
  await migrate({ database: database.url, views, log: silent });
  return database;
}

/** The options of a server that the tests set. */
export interface ServeOptions {
  readonly limits?: { readonly wants?: number };
  readonly pokes?: { readonly intervalMs?: number };
}

export function serve(database: TestDatabase, options: ServeOptions = {}) {
  return createSync({
    database: database.url,
    views,
    log: silent,
    authenticate: (request: Request) => ({ userID: request.headers.get('Authorization')!.replace(/^Bearer /, '') }),
    ...options,
  });
}

/** The part of a server that clients use. */
export type Served = Pick<Sync<{ userID: string }>, 'fetch'>;

/** A client that says what it wants with each pull. */
export class WantingClient {
  readonly #sync: Served;
  readonly #name: string;
  cookie: unknown = null;
  readonly rows = new Map<string, unknown>();

  constructor(sync: Served, name = 'group') {
    this.#sync = sync;
    this.#name = name;
  }

  /** @param extra more fields of the request */
  async pull(wants?: readonly Want[], extra: object = {}, userID = 'ann'): Promise<Answer> {
    const body = { pullVersion: 1, clientGroupID: this.#name, profileID: 'p', schemaVersion: '', cookie: this.cookie };
    const response = await this.#sync.fetch(
      new Request('http://localhost/sync/pull', {
        method: 'POST',
        headers: { Authorization: userID, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...body, ...(wants && { wants }), ...extra }),
      }),
    );
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    const answer = JSON.parse(text) as Answer;
    for (const op of answer.patch) {
      if (op.op === 'clear') this.rows.clear();
      else if (op.op === 'put') this.rows.set(op.key, op.value);
      else this.rows.delete(op.key);
    }
    this.cookie = answer.cookie;
    return answer;
  }

  /** The keys of the rows of a view that it holds. */
  keys(view: string): string[] {
    return [...this.rows.keys()]
      .filter((key) => key.startsWith(`${view}/`))
      .map((key) => key.slice(view.length + 1))
      .sort();
  }
}

export const project = (projectID: string): Want => ({ view: 'issue', args: { projectID } });
