/** A statement that finds the schema state outdated: the pull reads it and tries again, a limited number of times. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { PullServer, wholeTable } from '../../support/synced.js';

const views = wholeTable('item');
let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(
    "create table item (id integer primary key, body text not null default ''); insert into item values (1)",
  );
  await migrate({ database: database.url, views, log: silent });
});
afterAll(() => database?.drop());

/** Returns a server whose first statements report that a table was altered, and the number of its statements. */
function serverWith(outdatedCount: number) {
  const statements = { count: 0 };
  const watch = (db: Database): Database => ({
    ...db,
    async *copy(statement, signal) {
      const isOutdated = ++statements.count <= outdatedCount;
      for await (const bytes of db.copy(statement, signal)) {
        yield isOutdated
          ? Buffer.from(
              Buffer.from(bytes)
                .toString()
                .replace(/"torn" ?: ?false/, '"torn":true'),
            )
          : bytes;
      }
    },
  });
  return { server: new PullServer(database.url, views, watch), statements };
}

it('reads the schema state and tries again', async () => {
  const { server, statements } = serverWith(2);
  expect((await server.pull(null)).patch).toMatchObject([{ op: 'put', key: '1' }]);
  expect(statements.count).toBe(3);
  await server.close();
});

it('gives the connections of long deltas back, however many find the schema state outdated', async () => {
  const { server, statements } = serverWith(5);
  statements.count = 5;
  const { cookie } = await server.pull(null);
  await database.pool.query("insert into item select i, repeat('x', 4000) from generate_series(2, 400) i");
  statements.count = 1;
  // The server has three connections.
  expect((await server.pull(cookie)).patch).toHaveLength(399);
  expect(statements.count).toBe(6);
  await server.close();
});

it('refuses the pull after five attempts', async () => {
  const { server, statements } = serverWith(Number.POSITIVE_INFINITY);
  await expect(server.pull(null)).rejects.toThrow('The tables are being altered; try again later');
  expect(statements.count).toBe(5);
  await server.close();
});
