/** Builds hosts, starts each as a process of its own, and stops it. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { settlesWithin } from '../../src/limits/deadline.js';
import { freePort, type Running, run, start } from '../process.js';
import { examples, type Host } from './hosts.js';
import { listen } from './probe.js';

/** As in production, and with a clean end: some hosts end at once where tests or CI run. */
const production = { NODE_ENV: 'production', CI: '', TEST: '', NEXT_TELEMETRY_DISABLED: '1' };

/** Installs the examples' dependencies, and the package as it is built. */
export async function install(): Promise<void> {
  await promisify(execFile)('npm', ['ci', '--prefer-offline'], { cwd: examples, env: { ...process.env, NODE_ENV: '' } });
}

/** @param name of its folder */
export async function build(name: string, { build }: Host): Promise<void> {
  if (!build) return;
  const [file, ...args] = build;
  const { code, stdout, stderr } = await run(file, args, { cwd: `${examples}/${name}`, env: production });
  expect(code, stdout + stderr).toBe(0);
}

/** A host that serves. */
export interface Serving extends Running {
  /** Where Tidemark's paths begin. */
  readonly url: string;
}

/** How long a host may take to start, and to end, in milliseconds. */
const startMs = 30_000;
const endMs = 10_000;

/** Starts a host on a free port, and resolves when it serves. */
export async function serve(name: string, { program, args: [file, ...args] }: Host, database: string): Promise<Serving> {
  const port = String(await freePort());
  // Next.js has the address in HOSTNAME.
  const address = { HOST: '127.0.0.1', HOSTNAME: '127.0.0.1', PORT: port };
  const env = { ...production, ...address, DATABASE_URL: database };
  const running = start(file, args, { cwd: `${examples}/${name}`, env, ...(program !== undefined && { program }) });
  const url = `http://127.0.0.1:${port}/tidemark`;
  try {
    await untilServing(url, running);
  } catch (error) {
    running.child.kill('SIGKILL');
    const { stdout, stderr } = await running.ended;
    throw new Error(`${name} does not serve:\n${stdout}${stderr}`, { cause: error });
  }
  return { ...running, url };
}

async function untilServing(url: string, { child }: Running): Promise<void> {
  const deadline = Date.now() + startMs;
  for (;;) {
    const answer = await fetch(`${url}/healthz`).catch((error: unknown) => error as Error);
    if (answer instanceof Response && answer.status === 200) return void (await answer.text());
    if (child.exitCode !== null) throw new Error('It has ended');
    if (Date.now() > deadline) throw new Error(answer instanceof Error ? answer.message : `${answer.status}`);
    await sleep(50);
  }
}

/** On SIGTERM, with a stream open: the stream ends, and so does the process, as one that did what it was told. */
export async function endsCleanly({ url, child, ended }: Serving): Promise<void> {
  const reader = await listen(url);
  await reader.poked(1);
  child.kill('SIGTERM');
  expect(await settlesWithin(endMs, Promise.all([reader.ended, ended])), 'it ends in time').toBe(true);
  expect(await ended).toMatchObject({ code: 0, signal: null });
}
