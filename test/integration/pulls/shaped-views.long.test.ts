/** Views whose values are not plain rows. After any history of writes, clients hold what the tables' rows say. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../../stress/oracle/random.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, PullServer, SyncClient } from '../../support/synced.js';
import { ddl, describedViews, type Item, type Tables } from './shaped.js';
import { WatchedDatabase } from './watched.js';

const users = ['ada', 'bob', 'cy/1%'];
const spaces = ['a', 'b/1', '%2F'];
const ids = ['1', '2/x', '', '%', "o'"];
const docs = ['null', '{ "a_b" : 1.0,\n"a_b": null}', '"text\\n"', '7', '[]'];
const sizes = ['1', '9007199254740993', '-9007199254740991'];
const times = ['2026-02-03 04:05:06.7+13:45', '0044-03-15 12:00:00+00 BC', 'infinity', '10000-01-01 00:00:00+00'];

let database: TestDatabase;
const { definitions, expected } = describedViews;

beforeAll(async () => {
  database = await createSynced(ddl, definitions);
  const { rows } = await database.pool.query('select current_database() as name');
  await database.pool.query(`alter database ${rows[0].name} set timezone = 'Asia/Kathmandu'`);
});
afterAll(() => database.drop());

const text = (value: string | null) => (value === null ? 'null' : `'${value.replaceAll("'", "''")}'`);
const maybe = (random: Random, values: readonly string[]) => (random.chance(0.3) ? null : random.pick(values));

function statement(random: Random): string {
  const item = `(${text(random.pick(spaces))}, ${text(random.pick(ids))})`;
  const columns = [
    maybe(random, docs),
    maybe(random, sizes),
    maybe(random, ['', 'T "', '\u2028']),
    maybe(random, times),
  ];
  const values = columns.map(text).join(', ');
  const access = `(${text(random.pick(users))}, ${text(random.pick(spaces))})`;
  return random.weighted([
    [
      5,
      `insert into item values (${item.slice(1, -1)}, ${values}) on conflict (space, id) do update
      set (doc, size, title, done_at) = (excluded.doc, excluded.size, excluded.title, excluded.done_at)`,
    ],
    [2, `delete from item where (space, id) = ${item}`],
    [
      1,
      `update item set (space, id) = (n.space, n.id)
        from (select space as was, id as old, ${text(random.pick(spaces))} as space, id || 'x' as id from item) n
        where (was, old) = (item.space, item.id) and (was, old) = ${item}
          and not exists (select from item o where (o.space, o.id) = (n.space, n.id))`,
    ],
    [2, `insert into access values ${access} on conflict do nothing`],
    [1, `delete from access where (user_id, space) = ${access}`],
  ]);
}

async function readTables(): Promise<Tables> {
  const asText = { getTypeParser: () => (value: string) => value };
  const items = await database.pool.query<Item>({
    text: `select space, id, doc, size, title, extract(epoch from done_at) as done from item`,
    types: asText,
  } as never);
  const access = await database.pool.query<{ user_id: string; space: string }>('select * from access');
  return { items: items.rows, access: access.rows };
}

it.each([1, 2, 3])('clients hold what the tables say after any writes and shared deltas (seed %d)', async (seed) => {
  const random = new Random(seed);
  await database.pool.query(`truncate item, access;
    insert into access select u, s from unnest(array['ada', 'bob', 'cy/1%']) u, unnest(array['a', 'b/1']) s where (u, s) <> ('bob', 'a')`);
  const watched = new WatchedDatabase();
  const server = new PullServer(database.url, definitions, watched.watch, 1);
  const plain = new PullServer(database.url, definitions, watched.watch);
  try {
    const clients = [server, plain].flatMap((one) =>
      users.map((userID) => {
        const pull = (cookie: unknown) => one.pull(cookie, { clientGroupID: `group of ${userID}` }, userID);
        return { userID, client: new SyncClient({ pull }) };
      }),
    );
    for (let step = 0; step < 40; step++) {
      const statements = Array.from({ length: random.between(1, 4) }, () => statement(random));
      await database.pool.query(`begin; ${statements.join(';\n')}; commit`);
      await Promise.all(clients.map(({ client }) => client.pull()));
      const tables = await readTables();
      for (const { userID, client } of clients) {
        expect(client.held(), `seed ${seed}, step ${step}, ${userID}`).toStrictEqual(expected(tables, userID));
      }
    }
    expect(watched.statements.filter(({ text }) => text.includes('tidemark_cohorts')).length).toBeGreaterThan(10);
    expect(server.consistencyChecker.state()).toMatchObject({ differences: 0 });
    expect(server.consistencyChecker.state().comparisons).toBeGreaterThan(10);
    expect([...server.lines.lines, ...plain.lines.lines]).toEqual([]);
  } finally {
    await server.close();
    await plain.close();
  }
});
