/** A former primary still answers some statements of a server after a failover. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import { silent } from '../../support/log.js';
import { type Replication, startReplication } from '../../support/replication.js';
import { connect } from '../../support/standby.js';
import { type Context, fullRead, PullServer, SyncClient } from '../../support/synced.js';

const views: Views<Context> = {
  item: defineView<{ id: string; n: number }>({ key: 'id', query: () => sql`select id, n from item where n < 100` }),
};

let replication: Replication;
let primary: Database;
let promoted: Database;

beforeAll(async () => {
  replication = await startReplication({ delays: [0], waitsFor: '' });
  primary = openPool(replication.primaryURL, { max: 3 });
  promoted = openPool(replication.standbys[0]!.url, { max: 3 });
}, 200_000);

afterAll(async () => {
  await primary.close();
  await promoted.close();
  await replication.stop();
});

it('does not hide changes of the new primary whose transaction IDs it has assigned, too', async () => {
  const former = await connect(replication.primaryURL);
  await former.query('create table item (id text primary key, n int)');
  await migrate({ database: replication.primaryURL, views, log: silent });
  await former.query(`insert into item values ('a', 1)`);
  await replication.caughtUp();
  const [standby] = replication.standbys;
  // Polls reach the new primary. All other statements reach the former one as long as `isSplit`.
  let isSplit = true;
  const server = new PullServer(standby!.url, views, () => ({
    ...promoted,
    query: (statement) =>
      (isSplit && statement.name !== 'tidemark_poll_if_changed' ? primary : promoted).query(statement),
  }));
  const onFormer = new PullServer(replication.primaryURL, views);
  const client = new SyncClient(onFormer);
  await client.pull();
  await standby!.promote();
  const writer = await connect(standby!.url);
  // What the view does not show.
  for (let i = 0; i < 10; i++) await former.query(`insert into item values ('lost ${i}', 100)`);
  await client.pull(server);
  isSplit = false;
  await writer.query(`update item set n = 2`);
  await client.pull(server);
  expect(client.held()).toEqual({ 'item/a': { id: 'a', n: 2 } });
  expect(client.held()).toEqual(await fullRead(server));
  await Promise.all([server.close(), onFormer.close(), writer.end(), former.end()]);
}, 60_000);
