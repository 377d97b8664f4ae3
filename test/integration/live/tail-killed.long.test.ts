import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { views } from '../../../examples/tasks/src/views.js';
import { migrate } from '../../../src/migrate.js';
import { silent } from '../../support/log.js';
import { until } from '../conformance/client/client.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { hasLooked, openPokedClients, type PokedClients } from './poked-clients.js';
import { startWriter } from './writer.js';

let server: TestServer;
let clients: PokedClients;

afterEach(async () => {
  await clients.close();
  await server.close();
});

const ofTheServer = `application_name = 'tidemark' and datname = current_database()`;

/**
 * Ends all connections of the server while it reads the change log, as it nearly always is, and returns what they ran
 * last.
 */
async function kill(): Promise<string[]> {
  const client = await server.pool.connect();
  try {
    await client.query('begin');
    await client.query('lock table tidemark.change in access exclusive mode');
    await until(async () => {
      // Not by the client: within a transaction, this view stays as it was. A look may wait for the installation to be read.
      const { rows } = await server.pool.query(
        `select from pg_stat_activity where ${ofTheServer} and wait_event_type = 'Lock'
           and (query like '% from tidemark.look(%' or query like '%m.signs_from%')`,
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
  let listeners = notify ? 2 : 0;
  for (; kills < times || listeners > 0; kills++) {
    // One failed look after another would make the next ones rare.
    await hasLooked(server);
    await sleep(Math.random() * 100);
    const killed = await kill();
    if (killed.some((query) => query.startsWith('listen '))) listeners--;
  }
  expect(await writer.stop()).toBeGreaterThan(50);
  await clients.converge();
  expect(server.lines.map(({ message }) => message)).toContain('The change log could not be read; pokes are delayed');
}

it('a tail that looks misses nothing while its connections are killed', () => killManyTimes(20, false), 60_000);

it('a tail that is notified misses nothing while its connections are killed', () => killManyTimes(5, true), 60_000);
