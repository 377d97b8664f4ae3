/** The examples of ORMs. They are an npm project of their own, with their own lock file. */
import { execFile } from 'node:child_process';
import { cpSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../support/built.js';

export const examples: string = join(root, 'examples/orms/');

/** The names of the ORMs. */
export const orms: readonly string[] = ['drizzle', 'kysely', 'postgres-js', 'prisma'];

const run = promisify(execFile);
const modules = join(examples, 'node_modules');

/** Installs the examples' packages, unless they are present, and the server as currently built. */
export async function installExamples(): Promise<void> {
  const installed = statSync(join(modules, '.package-lock.json'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (installed < statSync(join(examples, 'package-lock.json')).mtimeMs) {
    await run('npm', ['ci', '--ignore-scripts'], { cwd: examples });
  }
  for (const part of ['package.json', 'dist']) {
    rmSync(join(modules, 'tidemark', part), { recursive: true, force: true });
    cpSync(join(root, 'packages/tidemark', part), join(modules, 'tidemark', part), { recursive: true });
  }
  // Generating a client needs no engine. Without this, Prisma's command would download one.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  await run('npx', ['prisma', 'generate'], { cwd: join(examples, 'prisma'), env });
}

/** Returns the compiler's errors in the examples. */
export async function compileExamples(): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', examples]).catch((error: { stdout: string }) => error);
  return stdout;
}
