import { expect, it } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { createSchema } from '../../../examples/tasks/src/schema.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { createEmptyDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';
import { views } from '../../support/whole-views.js';

/** More than the pool's connections. */
const pulls = 12;

it.each([
  [1, 'identity'],
  [20_000, 'identity'],
  [20_000, 'br'],
  [20_000, 'gzip'],
])('an abandoned pull of %i todos, encoded as %s, releases its connection', async (todos, encoding) => {
  const database = await createEmptyDatabase();
  await createSchema(database.pool);
  await database.pool.query("insert into list (id, owner_id, name) values ('l', 'ann', 'Groceries')");
  await database.pool.query(
    "insert into todo (id, list_id, title, sort) select n, 'l', repeat('Milk', 50), n from generate_series(1, $1::int) n",
    [todos],
  );
  await migrate({ database: database.url, views, log: silent });
  const sync = await createSync({ database: database.url, views, authenticate, log: memoryLog().log });
  const pull = (encoding: string) =>
    sync.fetch(
      new Request('http://localhost/sync/pull', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ann', 'Accept-Encoding': encoding },
        body: JSON.stringify({ pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null }),
      }),
    );
  for (let i = 0; i < pulls; i++) await (await pull(encoding)).body!.cancel();
  expect(await (await pull('identity')).text()).toContain('"list/l"');
  await sync.close();
  await database.drop();
});
