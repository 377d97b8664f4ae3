/** `tidemark serve --workers`, as an operator runs it: the built package, its default log (to nowhere). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cpuMsOf } from '../processes.js';

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export interface WorkersProcess {
  readonly url: string;
  /** The processor time of each worker so far, in milliseconds; empty if the system does not report it. */
  workersMs(): number[];
  /** The processor time of the process that hands connections to workers. */
  primaryMs(): number | undefined;
  stop(): Promise<void>;
}

export async function startWorkers(databaseURL: string, count: number): Promise<WorkersProcess> {
  const args = ['serve', '--workers', String(count), '--config', pathOf('workers.config.mjs')];
  const child = spawn(process.execPath, [pathOf('../../packages/tidemark/dist/cli.js'), ...args], {
    env: { ...process.env, DATABASE_URL: databaseURL, NODE_ENV: 'production', PORT: '0', HOST: '127.0.0.1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGINT');
    await once(child, 'exit');
  };
  let said = '';
  for await (const piece of child.stderr.setEncoding('utf8')) {
    said += piece;
    const url = /Listening at (http:\S+)\/sync\/pull/.exec(said)?.[1];
    if (url === undefined) continue;
    const workers = () => childrenOf(child.pid!).map((pid) => cpuMsOf(pid) ?? 0);
    return { url, workersMs: workers, primaryMs: () => cpuMsOf(child.pid), stop };
  }
  throw new Error(`tidemark serve ended before it listened:\n${said}`);
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  } catch {
    return [];
  }
}
