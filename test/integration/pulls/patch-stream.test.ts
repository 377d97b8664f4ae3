/** The response to a pull is the same however the bytes of its statement arrive. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, PullServer, SyncClient, wholeTable } from '../../support/synced.js';

const views = wholeTable('t');
const texts = ['plain', 'a, b', 'line\nbreak', '"quoted"', '\u0001\u0002', 'größe 👩‍👩‍👧', '\\n'];
/** Several lines, stored as written. */
const json = '{\n  "a": [\n    1\r\n  ]\n}';

let database: TestDatabase;
const servers: PullServer[] = [];

beforeAll(async () => {
  database = await createSynced('create table t (id int primary key, x text, j json)', views);
  const insert = 'insert into t select n, x, $2 from unnest($1::text[]) with ordinality u (x, n)';
  await database.pool.query(insert, [texts, json]);
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await database.drop();
});

/** A database whose COPY output arrives in pieces of this many bytes. */
const inPieces =
  (size: number) =>
  (db: Database): Database => ({
    ...db,
    async *copy(text) {
      for await (const chunk of db.copy(text)) {
        for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
      }
    },
  });

it.each([1, 2, 3, 7, 64, 1_000])(
  'a client receives the same rows if its statement arrives in pieces of %i bytes',
  async (size) => {
    const server = new PullServer(database.url, views, inPieces(size));
    servers.push(server);
    const client = new SyncClient(server);
    await client.pull();
    const row = (i: number) => ({ id: i + 1, x: texts[i], j: { a: [1] } });
    expect(client.held()).toEqual(Object.fromEntries(texts.map((_, i) => [`${i + 1}`, row(i)])));
    await database.pool.query('update t set x = x');
    expect((await client.pull()).patch).toEqual([]);
    await database.pool.query('delete from t where id = 1');
    expect((await client.pull()).patch).toEqual([{ op: 'del', key: '1' }]);
    await database.pool.query('insert into t values (1, $1, $2)', [texts[0], json]);
    expect((await client.pull()).patch).toEqual([{ op: 'put', key: '1', value: row(0) }]);

    // This many arrive through a COPY.
    await database.pool.query(`insert into t select n, 'many', $1 from generate_series(1001, 1150) n`, [json]);
    const { patch } = await client.pull();
    expect(patch).toHaveLength(150);
    expect(patch).toContainEqual({ op: 'put', key: '1150', value: { id: 1150, x: 'many', j: { a: [1] } } });
    await database.pool.query('delete from t where id > 1000');
  },
);
