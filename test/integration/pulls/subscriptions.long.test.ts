/** A logical replication subscription's writes are captured, or its table is refused. */
import { expect, it, vi } from 'vitest';
import type { Problem } from '../../../packages/tidemark/src/errors.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { subscribe, useLogicalReplication } from '../../support/subscription.js';
import { createSynced, fullRead, PullServer, SyncClient, wholeTable } from '../../support/synced.js';

const plain = 'create table t (id int primary key, n int)';
const partitioned = `create table t (id int primary key, n int) partition by range (id);
  create table low partition of t for values from (0) to (100);
  create table high partition of t for values from (100) to (1000)`;

let source: TestDatabase;
let target: TestDatabase;
let server: PullServer;
let client: SyncClient;

useLogicalReplication();

async function start(ddl: string): Promise<void> {
  source = await createEmptyDatabase();
  await source.pool.query(`${ddl}; insert into t values (1, 1), (2, 2)`);
  target = await createSynced(ddl, wholeTable('t'));
  server = new PullServer(target.url, wholeTable('t'));
  client = new SyncClient(server);
  await client.pull();
}
async function end(): Promise<void> {
  await server.close();
  await source.drop();
  await target.drop();
}
const logged = async () =>
  (await target.pool.query('select key, old, new_hash is not null as made from tidemark.change')).rows;

it('a table into which a subscription writes is refused, since its changes would be lost', async () => {
  await start(plain);
  const subscription = await subscribe(source, target, 't');
  // The initial copy fires statement triggers, and so does TRUNCATE. Nothing else does.
  expect(await logged()).toHaveLength(2);
  await target.pool.query('delete from tidemark.change');
  await subscription.write('insert into t values (3, 3)');
  await subscription.write('update t set n = 20 where id = 2');
  await subscription.write('delete from t where id = 1');
  expect((await target.pool.query('select * from t order by id')).rows).toEqual([
    { id: 2, n: 20 },
    { id: 3, n: 3 },
  ]);
  expect(await logged()).toEqual([]);

  const refused = { code: 'unavailable', status: 503 };
  await vi.waitFor(() => expect(client.pull()).rejects.toMatchObject(refused));
  const refusal = (await client.pull().catch((error: unknown) => error)) as Problem;
  expect((refusal.cause as Error).message).toMatch(
    /^Changes to public\.t are not captured: a logical replication subscription writes to it, .*Take the table out/,
  );
  await expect(migrate({ database: target.url, views: wholeTable('t'), log: silent })).rejects.toMatchObject({
    name: 'SetupError',
    message: (refusal.cause as Error).message,
  });

  await subscription.drop();
  const [, advised] = /reset all clients: (.*)\.$/.exec((refusal.cause as Error).message)!;
  await target.pool.query(advised!);
  const { patch } = await vi.waitFor(() => client.pull());
  expect(patch[0]).toEqual({ op: 'clear' });
  expect(client.held()).toEqual({ 2: { id: 2, n: 20 }, 3: { id: 3, n: 3 } });
  await end();
});

it('a migration refuses to capture a table into which a subscription writes', async () => {
  await start(plain);
  await source.pool.query('create table u (id int primary key)');
  await target.pool.query('create table u (id int primary key)');
  const subscription = await subscribe(source, target, 'u');
  const capturing = migrate({ database: target.url, views: wholeTable('u'), log: silent });
  await expect(capturing).rejects.toThrow(/^Changes to public\.u are not captured: a logical replication/);
  const { rows } = await target.pool.query(`select from pg_trigger where tgrelid = 'u'::regclass`);
  expect(rows).toEqual([]);
  await subscription.drop();
  await end();
});

it.each(['true', 'false'])(
  'a partitioned table into which a subscription writes is followed exactly (via its root: %s)',
  async (viaRoot) => {
    await start(partitioned);
    const subscription = await subscribe(source, target, 't', `publish_via_partition_root = ${viaRoot}`);
    const steps = [
      'insert into t values (3, 3), (300, 3)',
      'update t set n = n + 1',
      'update t set id = 500 where id = 2',
      'delete from t where id = 1',
      'truncate t',
      'insert into t values (4, 4)',
    ];
    for (const step of steps) {
      await subscription.write(step);
      const follows = async () => {
        expect((await client.pull()).patch).not.toEqual([]);
        expect(client.held()).toEqual(await fullRead(server));
      };
      // The server detects within a second that a partition has been truncated on its own.
      await (step === 'truncate t' ? vi.waitFor(follows) : follows());
    }
    expect(client.held()).toEqual({ 4: { id: 4, n: 4 } });
    await subscription.drop();
    await end();
  },
);
