/** A pull's answer is the same, however the bytes of its statement arrive. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.js';
import type { TestDatabase } from '../database.js';
import { createSynced, PullServer, SyncClient, wholeTable } from '../synced.js';

const views = wholeTable('t');
const texts = ['plain', 'a, b', 'line\nbreak', '"quoted"', '\u0001\u0002', 'größe 👩‍👩‍👧', '\\n'];

let database: TestDatabase;

beforeAll(async () => {
  database = await createSynced('create table t (id int primary key, x text)', views);
  await database.pool.query('insert into t select n, x from unnest($1::text[]) with ordinality u (x, n)', [texts]);
});
afterAll(() => database.drop());

/** A database whose COPY output comes in pieces of so many bytes. */
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

it.each([1, 2, 3, 7, 64, 1_000])('in pieces of %i bytes', async (size) => {
  const server = new PullServer(database.url, views, inPieces(size));
  const client = new SyncClient(server);
  try {
    await client.pull();
    expect(client.held()).toEqual(Object.fromEntries(texts.map((x, i) => [`${i + 1}`, { id: i + 1, x }])));
    await database.pool.query('update t set x = x');
    expect((await client.pull()).patch).toEqual([]);
    await database.pool.query('delete from t where id = 1');
    expect((await client.pull()).patch).toEqual([{ op: 'del', key: '1' }]);
    await database.pool.query('insert into t values (1, $1)', [texts[0]]);
    expect((await client.pull()).patch).toEqual([{ op: 'put', key: '1', value: { id: 1, x: texts[0] } }]);
  } finally {
    await server.close();
  }
});
