import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { silent } from '../../support/log.js';
import { views } from '../../support/whole-views.js';
import { until } from '../conformance/client/client.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { hasPolled, openPokedClients, type PokedClients } from './poked-clients.js';
import { startWriter } from './writer.js';

let server: TestServer;
let clients: PokedClients;

afterEach(async () => {
  await clients.close();
  await server.close();
});

const ofTheServer = `application_name = 'tidemark' and datname = current_database()`;

/**
 * Terminates all connections of the server while it reads the change log, as it nearly always does, and returns their
 * last statements.
 */
async function kill(): Promise<string[]> {
  const client = await server.pool.connect();
  try {
    await client.query('begin');
    await client.query('lock table tidemark.change in access exclusive mode');
    await until(async () => {
      // Not through `client`: within a transaction, this view does not change. A poll may wait for a schema read.
      const { rows } = await server.pool.query(
        `select from pg_stat_activity where ${ofTheServer} and wait_event_type = 'Lock'
           and (query like '% from tidemark.poll(%' or query like '%m.signs_from%')`,
      );
      return rows.length > 0;
    });
    const { rows } = await server.pool.query<{ query: string }>(
      `select query, pg_terminate_backend(pid) from pg_stat_activity where ${ofTheServer}`,
    );
    return rows.map(({ query }) => query);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

async function killManyTimes(times: number, notify: boolean): Promise<void> {
  server = await startServer({ pokes: { notify, intervalMs: 20 } });
  await migrate({ database: server.pool, views, pokes: { notify }, log: silent });
  clients = await openPokedClients(server, ['ann', 'ben', 'cam', 'ann', 'ben', 'cam']);
  const writer = startWriter(server.pool);
  let kills = 0;
  let listenKillsLeft = notify ? 2 : 0;
  for (; kills < times || listenKillsLeft > 0; kills++) {
    // Consecutive failed polls would make the next ones rare.
    await hasPolled(server);
    await sleep(Math.random() * 100);
    const statements = await kill();
    if (statements.some((query) => query.startsWith('listen '))) listenKillsLeft--;
  }
  expect(await writer.stop()).toBeGreaterThan(50);
  await clients.converge();
  expect(server.lines.map(({ message }) => message)).toContain('The change log could not be read; pokes are delayed');
}

it('a notifier that polls misses nothing while its connections are killed', () => killManyTimes(20, false), 60_000);

it(
  'a notifier that receives notifications misses nothing while its connections are killed',
  () => killManyTimes(5, true),
  60_000,
);
