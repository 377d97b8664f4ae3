import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { prepareBinaries } from '../../../packages/embedded-postgres/src/binaries.js';
import { readPostmaster } from '../../../packages/embedded-postgres/src/processes.js';
import { startServer, stopServer } from '../../../packages/embedded-postgres/src/server.js';
import { startEmbedded } from '../../../packages/embedded-postgres/src/start.js';
import { changeOwner, chooseServerUser } from '../../../packages/embedded-postgres/src/user.js';
import { bin } from '../../support/built.js';
import { start } from '../../support/process.js';
import { folder, patch, post, pull, push, serve, table, useFolder } from './commands.js';

useFolder();

it('migrate waits for a database that is still starting up', async () => {
  const directory = join(folder, 'late');
  const database = await startEmbedded({ directory, settings: { fsync: 'off' } });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(table);
  await client.end();
  await database.stop();

  // Until it is promoted, a standby without hot_standby reports that it is starting up.
  const data = database.dataDirectory;
  const user = chooseServerUser(data);
  const signal = (name: string) => {
    writeFileSync(join(data, name), '');
    changeOwner(join(data, name), user);
  };
  signal('standby.signal');
  const programs = { ...prepareBinaries(undefined, directory, user), user, logFile: join(directory, 'postgres.log') };
  const { port } = new URL(database.url);
  const where = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const starting = startServer(programs, data, { ...where, fsync: 'off', hot_standby: 'off' });
  await vi.waitFor(() => expect(readPostmaster(data)).toBeDefined(), { timeout: 20_000 });
  const env = { DATABASE_URL: database.url };
  const migrating = start(bin, ['migrate'], { cwd: folder, env });
  await migrating.printed(/^Cannot reach the database: the database system is .* Trying again in 1 s\.$/m);
  signal('promote');
  process.kill(readPostmaster(data)!.pid, 'SIGUSR1');
  const late = await starting;
  try {
    expect(await migrating.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/\nDone: /) });
    const server = await serve(env);
    expect(await post(`${server.url}/sync/push`, push)).toEqual({ status: 200, body: {} });
    expect(await post(`${server.url}/sync/pull`, pull)).toMatchObject({ status: 200, body: { patch } });
  } finally {
    await stopServer(programs, data, late);
  }
});
