/**
 * Debian's Postgres compiles expensive plans (JIT), which takes longer than most of a server's statements. It must
 * compile none of them, however expensive, and none may have the estimated cost of a forbidden scan.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type EmbeddedDatabase, startEmbedded } from '../../../packages/embedded-postgres/src/start.js';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import {
  createSync,
  defineMutator,
  defineMutators,
  defineView,
  migrate,
  type Sync,
  sql,
} from '../../../packages/tidemark/src/index.js';
import { prune } from '../../../packages/tidemark/src/store/retention.js';
import { silent } from '../../support/log.js';
import { listenForPokes, type PokeReader } from '../../support/poke-reader.js';
import { stockBinaries, stockPostgresIsMissing } from '../../support/stock-postgres.js';

const settings = {
  shared_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  log_line_prefix: '%a> ',
  // The default threshold is 100,000, which the statements of a larger database would exceed.
  jit_above_cost: '10',
};

const schema = `
  create table issue (id bigint primary key, team text not null, title text not null, assignee text, at timestamptz not null default now());
  create index on issue (team); create index on issue (assignee);
  create table member (team text, user_id text, primary key (team, user_id)); create index on member (user_id);
  create table comment (id bigint primary key, issue_id bigint not null references issue, body text not null); create index on comment (issue_id);
  insert into member values ('a', 'ann'), ('a', 'ben'), ('b', 'ben');
  insert into issue select n, case when n % 2 = 0 then 'a' else 'b' end, 'Issue ' || n, 'ann' from generate_series(1, 20000) n;
  insert into comment select n, n, 'Comment ' || n from generate_series(1, 20000) n;
  analyze`;

const views = {
  issue: defineView({
    key: 'id',
    query: ({ ctx }) => sql<{ id: string; title: string }>`
      select id, title, at from issue where assignee = ${ctx.userID} or team in (select team from member where user_id = ${ctx.userID})`,
  }),
  counted: defineView({
    key: 'id',
    query: ({ ctx }) => sql<{ id: string; comments: string }>`
      select i.id, count(c.id) as comments from issue i left join comment c on c.issue_id = i.id
      join member m on m.team = i.team where m.user_id = ${ctx.userID} group by i.id`,
  }),
};

const mutators = defineMutators({
  issue: {
    rename: defineMutator(z.object({ id: z.number(), title: z.string() }), async ({ tx, args }) => {
      await tx.query('update issue set title = $1 where id = $2', [args.title, args.id]);
    }),
  },
});

const folder = mkdtempSync(join(tmpdir(), 'tidemark-jit-'));
let database: EmbeddedDatabase;
let pool: pg.Pool;
let server: Database;
let sync: Sync;
let pokes: PokeReader;

describe.skipIf(stockPostgresIsMissing)("Debian's Postgres", () => {
  beforeAll(async () => {
    database = await startEmbedded({ directory: folder, settings, binaries: stockBinaries() });
    // Uses another name, because statements of a writer and of the migration are not statements of a server.
    pool = new pg.Pool({ connectionString: database.url, max: 2, application_name: 'writer' });
    await pool.query(schema);
    await migrate({ database: pool, views, log: silent });
    const authenticate = (request: Request) => ({
      userID: request.headers.get('Authorization')!.slice('Bearer '.length),
    });
    sync = await createSync({
      database: database.url,
      views,
      mutators,
      authenticate,
      log: silent,
      consistencyChecks: 1,
    });
    server = openPool(database.url, { max: 1 });
    pokes = await listenForPokes(send, { user: 'ben' });
  }, 200_000);

  afterAll(async () => {
    pokes?.close();
    await sync?.close();
    await server?.close();
    await pool?.end();
    await database?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function send(path: string, init: RequestInit = {}): Promise<Response> {
    return sync.fetch(new Request(`http://localhost${path}`, init));
  }

  async function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const response = await send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ben', ...headers },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    return response.json();
  }

  let cookie: unknown = null;

  /** Pulls as a client, and returns the number of ops. */
  async function pull(): Promise<number> {
    const group = { pullVersion: 1, clientGroupID: 'group', profileID: 'p', schemaVersion: '' };
    const answer = (await post('/sync/pull', { ...group, cookie })) as { cookie: unknown; patch: unknown[] };
    cookie = answer.cookie;
    return answer.patch.length;
  }

  /** The logged plans of the servers' statements, each after its text. */
  function plans(): string[] {
    const log = readFileSync(join(folder, 'postgres.log'), 'utf8');
    return log.split(/^(?=\S*> LOG: )/m).filter((entry) => entry.startsWith('tidemark> LOG:  duration'));
  }

  it('compiles no statement of pulls, pushes, pokes, calls, reads or the upkeep', async () => {
    expect(await pull()).toBeGreaterThan(20_000);
    expect(await pull()).toBe(0);
    for (const changed of [1, 300, 12_000]) {
      const before = pokes.pokes();
      await pool.query('update issue set title = title || $1 where id <= $2', ['!', changed]);
      await pokes.poked(before + 1);
      expect(await pull()).toBeGreaterThan(0);
    }
    await pool.query(`insert into comment select n + 100000, n, 'More' from generate_series(1, 5) n`);
    expect(await pull()).toBe(5);
    const mutation = { id: 1, clientID: 'client', name: 'issue.rename', args: { id: 1, title: 'New' }, timestamp: 0 };
    await post('/sync/push', {
      pushVersion: 1,
      clientGroupID: 'group',
      profileID: 'p',
      schemaVersion: '',
      mutations: [mutation],
    });
    await post('/api/mutators/issue/rename', { id: 2, title: 'New' }, { 'Idempotency-Key': 'key' });
    expect(await pull()).toBeGreaterThan(0);
    const read = await send('/api/views/counted/2', { headers: { Authorization: 'Bearer ben' } });
    expect(read.status).toBe(200);
    await prune(server, 0);

    expect(plans().length).toBeGreaterThan(20);
    expect(plans().filter((plan) => /^\s*JIT:$/m.test(plan))).toEqual([]);
    // Postgres adds ten billion to the cost of a scan that a setting forbids.
    const forbidden = /^.*cost=[\d.]+\.\.\d{11,}\.\d+.*$/m;
    expect(plans().flatMap((plan) => forbidden.exec(plan) ?? [])).toEqual([]);
  });
});
