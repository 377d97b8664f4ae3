/** Random changes to what some views read, between writes and pulls by clients whose view sets change each time. */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { defineView, type View, type Views } from '../../../packages/tidemark/src/view/define.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { type Context, fullRead, type Op, PullServer, SyncClient } from '../../support/synced.js';
import { Random } from './random.js';

const view = (text: string): View<Context> =>
  defineView<Record<string, unknown>>({ key: 'id', query: () => ({ text, values: [] }) });

const calm = view('select id, n from v');
const every = view('select * from t where n > 2');
const short = view('select id, b from t');
const pairs = view('select t.id, t.b, to_jsonb(u) as u from t left join u using (id) where t.n < 8');
const shared = view('select t.* from t where id in (select id from u where n > 1)');
const latest = view('select * from t order by n desc, id limit 3');
const grouped = view('select n as id, count(*) as rows, max(b::text) as b from t group by n');
const chosen = view('select distinct n as id, b::text::numeric as b from t');
const summed = view('select id, (select sum(n) from t where t.n = u.n) as sum from u');
const whole = view('select * from u');

/** The views that the servers serve, one after the other. */
const served: readonly Views<Context>[] = [
  { calm, every, short, pairs, whole },
  { calm, every, latest, grouped, chosen, summed },
  { whole, shared, short, calm, pairs, latest },
];

const schema = ['t', 'u', 'v']
  .map((table) => `create table ${table} (id int primary key, n int not null, a text default 'a', b int default 4)`)
  .join(';');

/** DDL that rarely affects which keys a view has. */
const schemaChanges = ['t', 'u'].flatMap((table) => [
  `alter table ${table} add column if not exists x int default 7`,
  `alter table ${table} drop column if exists x`,
  `alter table ${table} drop column if exists x; alter table ${table} add column x text default 'x'`,
  `alter table ${table} drop column if exists a; alter table ${table} add column a text default 'new'`,
  `alter table ${table} alter column b type bigint using b + 1`,
  `alter table ${table} alter column b type int using b - 1`,
]);
const deciding = ['t', 'u'].flatMap((table) =>
  ['bigint', 'int'].map((type) => `alter table ${table} alter column n type ${type}`),
);

let database: TestDatabase;
let servers: PullServer[];

beforeAll(async () => {
  database = await createEmptyDatabase();
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterAll(async () => {
  vi.useRealTimers();
  await database.drop();
});

/** `again`: without a reset, the client receives rows that it already has. No other delta does that. */
function kindOf(patch: readonly Op[], rows: ReadonlyMap<string, unknown>): string {
  if (patch.length === 0) return 'nothing';
  if (patch[0]!.op === 'clear') return 'reset';
  const isAgain = patch.some((op) => op.op === 'put' && isDeepStrictEqual(rows.get(op.key), op.value));
  return isAgain ? 'again' : 'delta';
}

const seed = 1;

it(`every client holds the rows of its views after each pull (seed ${seed})`, async () => {
  const random = new Random(seed);
  const { pool, url } = database;
  await pool.query(`drop table if exists t, u, v; ${schema}`);
  for (const views of served) await migrate({ database: pool, views, log: silent });
  servers = served.map((views) => new PullServer(url, views, undefined, 1));
  const write = (table: string) => {
    const [id, n] = [random.between(0, 6), random.between(0, 8)];
    return random.pick([
      `delete from ${table} where id = ${id}`,
      `update ${table} set n = ${n} where id <= ${id}`,
      `insert into ${table} (id, n) values (${id}, ${n}) on conflict (id) do update set n = ${n}`,
      `update ${table} set id = ${id + 10} where id = ${id} and not exists (select from ${table} where id = ${id + 10})`,
    ]);
  };
  const clients = servers.map((server) => new SyncClient(server));
  const kinds = new Map<string, number>();
  const pull = async (client: SyncClient, server: PullServer, step: string) => {
    const had = new Map(client.rows);
    const isFirst = client.cookie === null;
    const { patch } = await client.pull(server);
    expect(client.held(), `seed ${seed}, ${step}`).toEqual(await fullRead(server));
    const kind = isFirst ? 'first' : kindOf(patch, had);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  };
  try {
    for (let round = 0; round < 25; round++) {
      for (let i = random.between(0, 3); i > 0; i--) await pool.query(write(random.pick(['t', 'u', 'v'])));
      // Some clients are away.
      for (const client of clients) {
        const server = random.pick(servers);
        if (random.chance(0.8)) await pull(client, server, `round ${round}, before`);
      }
      const change = random.chance(0.1) ? random.pick(deciding) : random.pick(schemaChanges);
      const isOfT = change.startsWith('alter table t');
      if (random.chance(0.5)) await pool.query(write(random.pick([isOfT ? 'u' : 't', 'v'])));
      await pool.query(change);
      vi.advanceTimersByTime(1100);
      for (const client of clients) await pull(client, random.pick(servers), `round ${round}, ${change}`);
    }
    const differences = servers.map(({ consistencyChecker }) => consistencyChecker.state().differences);
    expect(differences).toEqual(served.map(() => 0));
  } finally {
    for (const server of servers) await server.close();
  }
  expect([...kinds.keys()].sort()).toEqual(['again', 'delta', 'first', 'nothing', 'reset']);
});
