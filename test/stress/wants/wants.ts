/**
 * Clients that want other instances of views with each pull, while the data changes. After each pull, a client must have
 * what it wants as a new query sees it, and nothing else.
 */
import type pg from 'pg';
import { createSync, migrate } from '../../../packages/tidemark/src/index.js';
import { readQuery } from '../../../packages/tidemark/src/sql.js';
import { silent } from '../../support/log.js';
import { Random } from '../oracle/random.js';
import { createTables, issues, projects, users, type ViewName, views } from './application.js';

export interface RunOptions {
  readonly seed: number;
  readonly pulls: number;
  readonly database: { readonly url: string; readonly pool: pg.Pool };
}

/** The result of a run. */
export interface RunResult {
  readonly pulls: number;
  readonly changedWants: number;
  /** The pulls that discarded everything although nothing was altered. */
  readonly resets: number;
  readonly stages: number;
  readonly differences: readonly string[];
}

interface Want {
  readonly view: ViewName;
  readonly args: Readonly<Record<string, unknown>>;
}

type Op =
  | { readonly op: 'clear' }
  | { readonly op: 'put'; readonly key: string; readonly value: unknown }
  | { readonly op: 'del'; readonly key: string };

interface Answer {
  readonly cookie: unknown;
  readonly patch: readonly Op[];
  readonly refusedWants?: readonly (Want & { readonly code: string })[];
  readonly laterViews?: readonly string[];
}

interface Client {
  readonly name: string;
  readonly userID: string;
  wants: readonly Want[];
  /** True if the wants have changed since the last pull. */
  hasNewWants: boolean;
  cookie: unknown;
  readonly rows: Map<string, string>;
}

type Server = Awaited<ReturnType<typeof createSync>>;

export async function runWants({ seed, pulls, database }: RunOptions): Promise<RunResult> {
  const random = new Random(seed);
  await createTables(database.pool);
  await migrate({ database: database.url, views, log: silent });
  const start = (): Promise<Server> =>
    createSync({
      database: database.url,
      views,
      log: silent,
      consistencyChecks: 0.3,
      authenticate: (request) => ({ userID: request.headers.get('Authorization')! }),
    });
  const servers = [await start(), await start()];
  const open: pg.PoolClient[] = [];
  const clients = Array.from({ length: 9 }, (_, i): Client => {
    const userID = users[i % users.length]!;
    return { name: `c${seed}-${i}`, userID, wants: [], hasNewWants: true, cookie: null, rows: new Map() };
  });
  const result = { pulls: 0, changedWants: 0, resets: 0, stages: 0, differences: [] as string[] };
  let isAltered = false;
  try {
    while (result.pulls < pulls && result.differences.length === 0) {
      const step = below(random, 100);
      if (step < 45) await write(random, database.pool, open);
      else if (step < 46) {
        await alter(random, database.pool);
        isAltered = true;
      } else if (step < 47) {
        const i = below(random, servers.length);
        await servers[i]!.close();
        servers[i] = await start();
      } else {
        const client = random.pick(clients);
        if (below(random, 3) === 0) {
          client.wants = changedWants(random, client.wants);
          client.hasNewWants = true;
          result.changedWants++;
        }
        await pull(client, random.pick(servers), database.pool, result, isAltered);
      }
    }
    return result;
  } finally {
    for (const tx of open) tx.release(true);
    await Promise.all(servers.map((server) => server.close()));
  }
}

/** Writes in a transaction that may stay open for a while. */
async function write(random: Random, pool: pg.Pool, open: pg.PoolClient[]): Promise<void> {
  if (open.length > 0 && below(random, 2) === 0) {
    const [tx] = open.splice(below(random, open.length), 1);
    await tx!.query(below(random, 5) === 0 ? 'rollback' : 'commit');
    tx!.release();
    return;
  }
  const tx = await pool.connect();
  // Another transaction may hold a row for as long as this one waits.
  await tx.query(`begin; set local lock_timeout = '20ms'`);
  try {
    for (let i = 0; i <= below(random, 3); i++) await tx.query(statement(random));
  } catch {
    await tx.query('rollback');
    tx.release();
    return;
  }
  if (open.length < 2 && below(random, 3) === 0) {
    open.push(tx);
    return;
  }
  await tx.query('commit');
  tx.release();
}

function statement(random: Random): string {
  const [issue, project, user] = [random.pick(issues), random.pick(projects), random.pick(users)];
  const state = random.pick(['open', 'closed']);
  const n = below(random, 10);
  switch (below(random, 10)) {
    case 0:
    case 1:
    case 2:
      return `insert into issue values ('${issue}', '${project}', 'T${n}', '${state}', '${user}', ${n})
        on conflict (id) do update set title = excluded.title, sort = excluded.sort`;
    case 3:
      return `update issue set project_id = '${project}' where id = '${issue}'`;
    case 4:
      return `update issue set sort = ${n}, assignee = ${below(random, 2) ? `'${user}'` : `'${project}'`} where sort = ${below(random, 10)}`;
    case 5:
      return `delete from issue where id = '${issue}'`;
    case 6:
      return `insert into member values ('${project}', '${user}') on conflict do nothing`;
    case 7:
      return `delete from member where project_id = '${project}' and user_id = '${user}'`;
    case 8:
      return `insert into comment values ('c${below(random, 40)}', '${issue}', ${below(random, 3) ? `'b${below(random, 3)}'` : 'null'})
        on conflict (id) do update set issue_id = excluded.issue_id`;
    default:
      return `update project set name = 'N${n}' where id = '${project}'`;
  }
}

async function alter(random: Random, pool: pg.Pool): Promise<void> {
  const column = `extra_${below(random, 1_000_000)}`;
  const table = random.pick(['issue', 'comment', 'project']);
  const tx = await pool.connect();
  try {
    // An open transaction may hold the table.
    await tx.query(`set lock_timeout = '20ms'; alter table ${table} add column ${column} integer`);
  } catch {
    // Then the table stays as it is.
  } finally {
    await tx.query('reset lock_timeout');
    tx.release();
  }
}

function changedWants(random: Random, wants: readonly Want[]): readonly Want[] {
  const kept = wants.filter(() => below(random, 4) > 0);
  const added = Array.from({ length: below(random, 4) }, () => randomWant(random));
  return [...kept, ...added];
}

function randomWant(random: Random): Want {
  const projectID = random.pick(projects);
  const from = below(random, 8);
  switch (below(random, 9)) {
    case 0:
    case 1:
      return { view: 'issue', args: { projectID } };
    case 2:
      return { view: 'slice', args: below(random, 2) ? { from } : { from, to: from + below(random, 4) } };
    case 3:
      return { view: 'chosen', args: { ids: Array.from({ length: below(random, 4) }, () => random.pick(issues)) } };
    case 4:
      return { view: 'assigned', args: { projectID } };
    case 5:
      return { view: 'counted', args: { projectID } };
    case 6:
      return { view: 'unread', args: { projectID, body: random.pick([null, 'b1', "b'2", '{"}']) } };
    case 7:
      return { view: 'top', args: { projectID } };
    default:
      return random.pick<Want>([
        { view: 'issue', args: { projectID: 7 } },
        { view: 'project', args: {} },
        { view: 'nothing' as never, args: {} },
        { view: 'slice', args: { from: 99_999_999_999 } },
      ]);
  }
}

async function pull(
  client: Client,
  server: Server,
  pool: pg.Pool,
  result: { pulls: number; resets: number; stages: number; differences: string[] },
  isAltered: boolean,
): Promise<void> {
  for (;;) {
    const answer = await ask(client, server);
    result.pulls++;
    const problems = apply(client, answer);
    if (answer.patch[0]?.op === 'clear' && !isAltered) result.resets++;
    const refused = answer.refusedWants ?? [];
    const served = client.wants.filter((want) => !refused.some((one) => isSame(one, want)));
    const later = new Set(answer.laterViews);
    const expected = await expectedRows(client, served, later, pool);
    for (const [key, value] of expected) {
      if (client.rows.get(key) !== value) problems.push(`${key} is ${client.rows.get(key)}, not ${value}`);
    }
    for (const key of client.rows.keys()) if (!expected.has(key)) problems.push(`${key} is not wanted`);
    if (problems.length > 0) {
      result.differences.push(
        `${client.name} wants ${JSON.stringify(client.wants)}: ${problems.slice(0, 10).join('; ')}`,
      );
    }
    client.hasNewWants = false;
    if (later.size === 0 || problems.length > 0) return;
    result.stages++;
  }
}

async function ask(client: Client, server: Server): Promise<Answer> {
  const body = {
    pullVersion: 1,
    clientGroupID: client.name,
    profileID: 'p',
    schemaVersion: '',
    cookie: client.cookie,
    wants: client.wants,
    stages: true,
  };
  const response = await server.fetch(
    new Request('http://localhost/sync/pull', {
      method: 'POST',
      headers: { Authorization: client.userID, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} for ${JSON.stringify(body)}: ${text}`);
  return JSON.parse(text) as Answer;
}

/** Applies a patch. Returns the ops that should not be in it. */
function apply(client: Client, { cookie, patch }: Answer): string[] {
  const problems: string[] = [];
  const mentioned = new Set<string>();
  for (const op of patch) {
    if (op.op === 'clear') {
      client.rows.clear();
      continue;
    }
    if (mentioned.has(op.key)) problems.push(`two ops for ${op.key}`);
    mentioned.add(op.key);
    if (op.op === 'del') {
      if (!client.rows.delete(op.key)) problems.push(`del of ${op.key}, which the client does not have`);
      continue;
    }
    const value = JSON.stringify(op.value);
    if (!client.hasNewWants && client.rows.get(op.key) === value) problems.push(`put of ${op.key}, which is the same`);
    client.rows.set(op.key, value);
  }
  client.cookie = cookie;
  return problems;
}

/** Reads what a client should have, with a query for each view and want. */
async function expectedRows(
  { userID }: Client,
  wants: readonly Want[],
  later: ReadonlySet<string>,
  pool: pg.Pool,
): Promise<Map<string, string>> {
  const expected = new Map<string, string>();
  const all: readonly Want[] = [{ view: 'project', args: {} }, ...wants];
  for (const { view, args } of all) {
    if (later.has(view)) continue;
    const { query, args: validator } = views[view] as (typeof views)['issue'];
    const valid = validator ? await validator['~standard'].validate(args) : { value: undefined };
    if ('issues' in valid && valid.issues) throw new Error(`${view} does not refuse ${JSON.stringify(args)}`);
    const input = { ctx: { userID }, profileID: 'p', schemaVersion: '', args: (valid as { value: never }).value };
    const { text, values } = readQuery(query(input));
    const { rows } = await pool.query<{ id: string; value: unknown }>(
      `select v.id, to_json(v) as value from (${text}) v`,
      [...values],
    );
    const prefix = view === 'chosen' ? `chosen/${userID}/` : `${view}/`;
    for (const { id, value } of rows) expected.set(prefix + id, JSON.stringify(value));
  }
  return expected;
}

/** An integer from 0 to below the limit. */
function below(random: Random, limit: number): number {
  return random.between(0, limit - 1);
}

function isSame(one: Want, other: Want): boolean {
  return one.view === other.view && JSON.stringify(one.args) === JSON.stringify(other.args);
}
