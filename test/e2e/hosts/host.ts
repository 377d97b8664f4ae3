/** Starts an application that serves Tidemark in its own process, and stops it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { settlesWithin } from '../../../packages/tidemark/src/limits/deadline.js';
import { freePort, type Running, start } from '../../support/process.js';
import { listen } from './probe.js';

/** The command that starts an application. Tidemark's paths are below `/tidemark`. */
export interface Host {
  /** The program that runs it. Default: this Node. */
  readonly program?: string | undefined;
  readonly args: readonly [file: string, ...args: string[]];
  readonly cwd: string;
  /** The exit status after a signal. Default 0. */
  readonly exitCode?: number | undefined;
}

/** A running host. */
export interface Serving extends Running {
  /** The base URL of Tidemark's paths. */
  readonly url: string;
  readonly exitCode: number;
}

/** Some hosts exit immediately, or behave differently, in tests or CI. */
export const production = { NODE_ENV: 'production', CI: '', TEST: '', NEXT_TELEMETRY_DISABLED: '1' };

/** The longest time to start, and to end, in milliseconds. */
const startMs = 30_000;
const endMs = 10_000;

/** Starts an application on a free port, and resolves when it serves. */
export async function serve(
  { args: [file, ...args], exitCode = 0, ...options }: Host,
  database: string,
): Promise<Serving> {
  const port = String(await freePort());
  // Next.js takes its address from HOSTNAME.
  const address = { HOST: '127.0.0.1', HOSTNAME: '127.0.0.1', PORT: port };
  const running = start(file, args, { ...options, env: { ...production, ...address, DATABASE_URL: database } });
  const url = `http://127.0.0.1:${port}/tidemark`;
  try {
    await untilServing(url, running);
  } catch (error) {
    running.child.kill('SIGKILL');
    const { stdout, stderr } = await running.ended;
    throw new Error(`It does not serve: ${error}\n${stdout}${stderr}`);
  }
  return { ...running, url, exitCode };
}

async function untilServing(url: string, { child }: Running): Promise<void> {
  const deadline = Date.now() + startMs;
  for (;;) {
    const answer = await fetch(`${url}/healthz`).catch((error: unknown) => error as Error);
    // Not by its class, which servers in this process may have replaced.
    if ('status' in answer && answer.status === 200) return void (await answer.text());
    if (child.exitCode !== null) throw new Error('it has ended');
    if (Date.now() > deadline) throw 'status' in answer ? new Error(`status ${answer.status}`) : answer;
    await sleep(50);
  }
}

/** Sends SIGTERM while a stream is open. The stream must end, and so must the process, with the expected status. */
export async function endsCleanly({ url, exitCode, child, ended }: Serving): Promise<void> {
  const reader = await listen(url);
  await reader.poked(1);
  child.kill('SIGTERM');
  expect(await settlesWithin(endMs, Promise.all([reader.ended, ended])), 'it ends in time').toBe(true);
  expect(await ended).toMatchObject({ code: exitCode, signal: null });
}
