// Stands in for the embedded launcher, and goes when that lands: a scratch cluster of the installed Postgres 15.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';

const BIN = '/usr/lib/postgresql/15/bin';
const NOBODY = 65_534;

export default async function startCluster(): Promise<() => void> {
  const directory = mkdtempSync('/tmp/tidemark-test-');
  const asRoot = process.getuid?.() === 0;
  if (asRoot) chownSync(directory, NOBODY, NOBODY);
  const run = (program: string, ...args: string[]) =>
    execFileSync(`${BIN}/${program}`, args, {
      cwd: '/',
      stdio: 'ignore',
      ...(asRoot && { uid: NOBODY, gid: NOBODY }),
    });
  const port = await freePort();
  const data = `${directory}/data`;
  run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync');
  const options = `-p ${port} -k ${directory} -c listen_addresses=127.0.0.1 -c max_connections=200`;
  run('pg_ctl', '-D', data, '-w', '-l', `${directory}/log`, '-o', options, 'start');
  process.env.TIDEMARK_TEST_CLUSTER = `postgres://postgres@127.0.0.1:${port}/`;
  return () => {
    run('pg_ctl', '-D', data, '-w', '-m', 'immediate', 'stop');
    rmSync(directory, { recursive: true, force: true });
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
