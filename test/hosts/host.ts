/** Starts the examples of hosts, each as a process of its own, and stops them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { freePort, type Running, start } from '../process.js';
import { listen } from './probe.js';

/** How to start a host that has been built. */
export interface Host {
  /** Default: this Node. */
  readonly program?: string;
  readonly args: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Where the examples are. */
export const examples = fileURLToPath(new URL('../../examples/hosts/', import.meta.url));

/** A host that serves. */
export interface Serving extends Running {
  /** Where Tidemark's paths begin. */
  readonly url: string;
}

/** Starts a host on a free port, and resolves when it serves. */
export async function serve({ args: [file, ...args], env, ...host }: Host, database: string): Promise<Serving> {
  const port = String(await freePort());
  const running = start(file, args, {
    ...host,
    env: { ...env, DATABASE_URL: database, HOST: '127.0.0.1', PORT: port },
  });
  let printed = '';
  for (const stream of [running.child.stdout!, running.child.stderr!]) {
    stream.on('data', (text: string) => {
      printed += text;
    });
  }
  const url = `http://127.0.0.1:${port}/tidemark`;
  const deadline = Date.now() + 60_000;
  for (;;) {
    const status = await fetch(`${url}/healthz`).then(
      (answer) => answer.text().then(() => answer.status),
      () => undefined,
    );
    if (status === 200) return { ...running, url };
    if (running.child.exitCode !== null || Date.now() > deadline) {
      running.child.kill('SIGKILL');
      throw new Error(`It does not serve (status ${status}):\n${printed}`);
    }
    await sleep(50);
  }
}

/** How long a host may take to end, in milliseconds. */
const endMs = 10_000;

/** On SIGTERM, with a stream open: the stream ends, and so does the process, as one that has done what it was told. */
export async function endsCleanly({ url, child, ended }: Serving): Promise<void> {
  const reader = await listen(url);
  await reader.poked(1);
  const output = ended;
  child.kill('SIGTERM');
  await reader.ended;
  await vi.waitFor(() => expect(child.exitCode ?? child.signalCode).not.toBeNull(), { timeout: endMs });
  expect(await output).toMatchObject({ code: 0, signal: null });
}
