/** Servers in processes of their own, to be stopped. */
import { fileURLToPath } from 'node:url';
import type { ListenOptions } from '../../../packages/tidemark/src/node.js';
import { type Running, start } from '../../support/process.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const script = fileURLToPath(new URL('stopping-server.ts', import.meta.url));

export interface StoppingServer extends Running {
  readonly url: string;
}

export async function startServer(database: string, options: Partial<ListenOptions>): Promise<StoppingServer> {
  const args = ['tsx', script, JSON.stringify(options)];
  const running = start('--import', args, { cwd: root, env: { DATABASE_URL: database } });
  const [, url] = await running.printed(/"url":"([^"]+)"/);
  return { ...running, url: url! };
}
