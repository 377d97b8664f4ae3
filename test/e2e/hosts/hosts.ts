/** The examples of hosts: how each is built and started, as its own documentation says. */
import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { root } from '../../support/built.js';
import { run } from '../../support/process.js';
import { type Host, production } from './host.js';

/** What starts a host, and before that builds it: a file of Node, with its arguments. */
interface Example extends Omit<Host, 'cwd'> {
  readonly build?: readonly [file: string, ...args: string[]];
}

/**
 * A copy of the package and of the examples, which are an npm project of its own: beside the repository's own packages, it
 * would not be noticed what the package lacks.
 */
const copy = join(tmpdir(), `tidemark-hosts-${process.pid}`);
const folder = join(copy, 'examples/hosts');

const installed = (file: string) => join(folder, 'node_modules', file);
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
    // Next.js lays it out below the root that its configuration names.
    args: ['.next/standalone/next/server.js'],
    // It always ends like this, when all is done: 128 and the number of the signal.
    exitCode: 143,
  },
  sveltekit: { build: viteBuild, args: ['build'] },
  nitro: { build: [installed('nitro/dist/cli/index.mjs'), 'build'], args: nitroOutput },
  'tanstack-start': { build: viteBuild, args: nitroOutput },
  bun: { program: installed('bun/bin/bun.exe'), args: ['server.ts'] },
  deno: { program: installed('deno/deno'), args: ['run', '--allow-all', 'server.ts'] },
};

/** What is in the folders of examples that somebody has tried. */
const made = new Set(['node_modules', 'build', '.next', '.nitro', '.output', '.svelte-kit', '.tanstack']);

/** Their names. */
export const hosts: readonly string[] = Object.keys(examples);

/** Installs what the examples need, and the package as `npm run build` made it. */
export async function install(): Promise<void> {
  const filter = (path: string) => !made.has(basename(path));
  for (const path of ['package.json', 'README.md', 'LICENSE', 'dist', 'ops', 'examples/hosts']) {
    cpSync(join(root, path), join(copy, path), { recursive: true, filter });
  }
  await promisify(execFile)('npm', ['ci', '--prefer-offline'], { cwd: folder, env: { ...process.env, NODE_ENV: '' } });
}

export function uninstall(): void {
  rmSync(copy, { recursive: true, force: true });
}

/** Builds a host, and says how to start it. */
export async function built(name: string): Promise<Host> {
  const { build, ...host } = examples[name]!;
  const cwd = join(folder, name);
  if (build) {
    const [file, ...args] = build;
    const { code, stdout, stderr } = await run(file, args, { cwd, env: production });
    expect(code, stdout + stderr).toBe(0);
  }
  return { ...host, cwd };
}
