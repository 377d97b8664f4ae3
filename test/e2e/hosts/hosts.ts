/** The examples of hosts. Each is built and started as its own documentation says. */
import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { root } from '../../support/built.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { run } from '../../support/process.js';
import { type Host, production, type Serving, serve } from './host.js';

/** The command that starts a host, and the one that builds it: a Node file with its arguments. */
interface Example extends Omit<Host, 'cwd'> {
  readonly build?: readonly [file: string, ...args: string[]];
}

/**
 * A copy of the package and of the examples, which are an npm project of their own. Beside the repository's packages,
 * the tests would not detect packages that the package lacks.
 */
const copy = join(tmpdir(), `tidemark-hosts-${process.pid}`);
export const folder: string = join(copy, 'examples/hosts');

/** Returns the path of a file in the packages that are installed beside the examples. */
export function installed(file: string): string {
  return join(folder, 'node_modules', file);
}

const typescript: Example = { args: ['--import', 'tsx', 'server.ts'] };
const viteBuild: Example['build'] = [installed('vite/bin/vite.js'), 'build'];
const nitroOutput: Example['args'] = ['.output/server/index.mjs'];

const examples: Readonly<Record<string, Example>> = {
  node: typescript,
  hono: typescript,
  express: typescript,
  fastify: typescript,
  next: {
    build: [installed('next/dist/bin/next'), 'build'],
    // Next.js creates it below the root in its configuration.
    args: ['.next/standalone/next/server.js'],
    // It always exits with this status after its cleanup: 128 plus the signal's number.
    exitCode: 143,
  },
  sveltekit: { build: viteBuild, args: ['build'] },
  nitro: { build: [installed('nitro/dist/cli/index.mjs'), 'build'], args: nitroOutput },
  'tanstack-start': { build: viteBuild, args: nitroOutput },
  bun: { program: installed('bun/bin/bun.exe'), args: ['server.ts'] },
  deno: { program: installed('deno/deno'), args: ['run', '--allow-all', 'server.ts'] },
};

/** The files that trying out examples leaves in their folders. */
const made = new Set(['node_modules', 'build', '.next', '.nitro', '.output', '.svelte-kit', '.tanstack']);

/** The names of the hosts. */
export const hosts: readonly string[] = Object.keys(examples);

/** A build takes long on a busy machine. */
export const timeoutMs = 300_000;

/** The database of a test file's hosts, and the host that a test serves. */
export interface HostsUnderTest {
  /** The connection string of the database. */
  readonly databaseURL: string;
  /** Starts a host on the database. It is killed after the test. */
  serve(host: Host): Promise<Serving>;
}

/**
 * Installs the hosts for a test file, with a database.
 * @param statements create the tables
 * @param prepare called after the installation
 */
export function useHosts(statements: string, prepare = (): void => {}): HostsUnderTest {
  let database: TestDatabase;
  let serving: Serving | undefined;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query(statements);
    await install();
    prepare();
  }, timeoutMs);
  afterEach(async () => {
    serving?.child.kill('SIGKILL');
    await serving?.ended;
  });
  afterAll(async () => {
    rmSync(copy, { recursive: true, force: true });
    await database.drop();
  });
  return {
    get databaseURL() {
      return database.url;
    },
    async serve(host) {
      serving = await serve(host, database.url);
      return serving;
    },
  };
}

/** Installs the examples' packages, and the package that `npm run build` made. */
async function install(): Promise<void> {
  const filter = (path: string) => !made.has(basename(path));
  for (const path of ['packages/tidemark', 'examples/hosts']) {
    cpSync(join(root, path), join(copy, path), { recursive: true, filter });
  }
  await promisify(execFile)('npm', ['ci', '--prefer-offline'], { cwd: folder, env: { ...process.env, NODE_ENV: '' } });
}

/** Builds a host, and returns the command to start it. */
export async function built(name: string): Promise<Host> {
  const { build, ...host } = examples[name]!;
  const cwd = join(folder, name);
  if (build) await succeed(cwd, build);
  return { ...host, cwd };
}

/** Runs a Node file with its arguments to its end. */
export async function succeed(
  cwd: string,
  [file, ...args]: NonNullable<Example['build']>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { code, stdout, stderr } = await run(file, args, { cwd, env: { ...production, ...env } });
  expect(code, stdout + stderr).toBe(0);
}
