/** The examples of hosts: how each is built and started, as its own documentation says. */
import { fileURLToPath } from 'node:url';

/** How to build a host and to start it, in its folder. */
export interface Host {
  /** The file of the program that builds it, and its arguments. Default: nothing is built. */
  readonly build?: readonly [file: string, ...args: string[]];
  /** What runs it. Default: this Node. */
  readonly program?: string;
  readonly args: readonly [file: string, ...args: string[]];
}

/** Where the examples are: an npm project of its own. */
export const examples: string = fileURLToPath(new URL('../../examples/hosts', import.meta.url));

const installed = (file: string) => `${examples}/node_modules/${file}`;
const typescript: Host = { args: ['--import', 'tsx', 'server.ts'] };
const nitroOutput: Host['args'] = ['.output/server/index.mjs'];

export const hosts: Readonly<Record<string, Host>> = {
  node: typescript,
  hono: typescript,
  express: typescript,
  fastify: typescript,
  next: {
    build: [installed('next/dist/bin/next'), 'build'],
    // Below the folder of the outermost lockfile, as Next.js lays it out.
    args: ['.next/standalone/examples/hosts/next/server.js'],
  },
  sveltekit: { build: [installed('vite/bin/vite.js'), 'build'], args: ['build'] },
  nitro: { build: [installed('nitro/dist/cli/index.mjs'), 'build'], args: nitroOutput },
  'tanstack-start': { build: [installed('vite/bin/vite.js'), 'build'], args: nitroOutput },
  bun: { program: installed('bun/bin/bun.exe'), args: ['server.ts'] },
  deno: { program: installed('deno/deno'), args: ['run', '--allow-all', 'server.ts'] },
};
