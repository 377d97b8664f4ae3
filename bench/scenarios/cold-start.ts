/** Measures the time from a process's start to its first response, and the part that importing the package takes. */
import { Connection } from '../client/connection.js';
import { userOf } from '../database.js';
import { type ServerProcess, startProcess, startServer } from '../processes.js';
import type { Bench, Result } from '../scenario.js';
import { inTurns, median } from '../statistics.js';

export async function coldStart({ databaseURL, sizes, isQuick }: Bench): Promise<Result[]> {
  const size = sizes[0]!;
  let starts = 0;
  const pull = (connection: Connection) => {
    const body = { profileID: 'p', clientGroupID: `cold${++starts}`, cookie: null, pullVersion: 1, schemaVersion: '' };
    return connection.post('/sync/pull', userOf(size), JSON.stringify(body));
  };
  const samples = await inTurns(isQuick ? 2 : 5, {
    server: () => timeToAnswer(() => startServer(databaseURL, { application: 'todos' }), pull),
    bare: () =>
      timeToAnswer(
        () => startProcess('limits.mjs', databaseURL),
        (connection) => connection.post('/query', 'nobody', '{}'),
      ),
    tidemark: () => importTime(databaseURL, 'tidemark'),
    pg: () => importTime(databaseURL, 'pg'),
  });
  const result = (name: string, ours: readonly number[], bare: readonly number[], limitName: string): Result => {
    const [value, limit] = [median(ours), median(bare)];
    return { name, value, unit: 'ms', limit, limitName, ratio: value / limit };
  };
  return [
    result('start to the first pull', samples.server, samples.bare, 'node:http and pg to the first query'),
    result('import of the package', samples.tidemark, samples.pg, 'import of pg'),
  ];
}

async function timeToAnswer(
  start: () => Promise<ServerProcess>,
  ask: (connection: Connection) => Promise<unknown>,
): Promise<number> {
  const started = performance.now();
  const server = await start();
  try {
    const connection = await Connection.open(server.url);
    await ask(connection);
    const ms = performance.now() - started;
    connection.close();
    return ms;
  } finally {
    await server.stop();
  }
}

async function importTime(databaseURL: string, name: string): Promise<number> {
  const child = await startProcess('import.mjs', databaseURL);
  return (await child.ask<{ ms: number }>({ name }).finally(child.stop)).ms;
}
