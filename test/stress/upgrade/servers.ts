/** Servers of an application: in this process, each with its own connections, or in their own processes. */
import { fileURLToPath } from 'node:url';
import { createSync } from '../../../packages/tidemark/src/server.js';
import { memoryLog } from '../../support/log.js';
import { freePort, start } from '../../support/process.js';
import { type Application, applications, optionsOf } from './application.js';
import type { Server } from './client.js';

export interface Running extends Server {
  readonly application: Application;
  /** Stops it, and returns the reasons for resets in its log. An attempt and a response have one each. */
  close(): Promise<string[]>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = fileURLToPath(new URL('serve.ts', import.meta.url));

/** @throws SetupError if the database is not ready for it; from a process, an Error with the same message */
export function startServer(database: string, application: Application): Promise<Running> {
  return process.env.TIDEMARK_UPGRADE_PROCESSES
    ? startProcess(database, application)
    : startHere(database, application);
}

async function startHere(database: string, application: Application): Promise<Running> {
  const { log, lines } = memoryLog();
  const sync = await createSync({ ...optionsOf(application), database, log });
  return {
    application,
    schemaVersions: application.schemaVersions,
    fetch: sync.fetch,
    async close() {
      await sync.close();
      return lines.flatMap(({ fields }) => (fields.reason === undefined ? [] : [String(fields.reason)]));
    },
  };
}

async function startProcess(database: string, application: Application): Promise<Running> {
  const [name] = Object.entries(applications).find(([, one]) => one === application)!;
  const env = { DATABASE_URL: database, PORT: String(await freePort()), HOST: '127.0.0.1', LOG_LEVEL: 'debug' };
  const { child, ended, printed } = start('--import', ['tsx', program, name], { cwd: root, env });
  const [, url] = await printed(/Listening at (\S+)/);
  return {
    application,
    schemaVersions: application.schemaVersions,
    fetch: async (request) => fetch(new Request(request.url.replace('http://localhost', url!), request)),
    async close() {
      child.kill('SIGTERM');
      const { code, stdout, stderr } = await ended;
      if (code !== 0) throw new Error(`A server ended with ${code}: ${stderr}`);
      return stdout.match(/(?<="reason":")[^"]+/g) ?? [];
    },
  };
}
