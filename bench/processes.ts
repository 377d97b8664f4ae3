import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { heedWarnings } from '../test/support/warnings.js';

/** A process that serves HTTP and does one task at a time on request. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  ask<Answer>(message: object): Promise<Answer>;
  /** Peak resident memory in MB since the last `resetPeak`; undefined if the system does not report it. */
  peakMemory(): number | undefined;
  resetPeak(): void;
  /** Processor time used so far, in milliseconds; undefined if the system does not report it. */
  cpuMs(): number | undefined;
  /** Ends the process with this signal, by default SIGTERM, and waits for its exit. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** The response of a server under test to any message. */
export interface ServerState {
  readonly rssMB: number;
  readonly heapMB: number;
  readonly cpuMs: number;
  readonly sockets: number;
  /** The longest time that the event loop was blocked since a message with `watch`. */
  readonly blockedMs: number;
}

/** The application in `applications/` that a server serves, and how. */
export interface ServerOptions {
  readonly application: string;
  /** The maximum number of connections to Postgres. Default: the package's. */
  readonly connections?: number;
  /** More environment variables for the application. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a process with the server under test, as an application runs it. */
export function startServer(databaseURL: string, options: ServerOptions): Promise<ServerProcess> {
  const { application, connections, env } = options;
  const all = {
    ...env,
    APPLICATION: application,
    ...(connections !== undefined && { CONNECTIONS: String(connections) }),
  };
  return startProcess('serve.mjs', databaseURL, all, process.env.BENCH_NODE_OPTIONS?.split(' '));
}

const servers = new URL('servers/', import.meta.url);

/** Starts a script of `servers/`, or the one that a URL names, in its own process. */
export async function startProcess(
  script: string,
  databaseURL: string,
  env: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): Promise<ServerProcess> {
  const loaderOptions = script.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const child = fork(fileURLToPath(new URL(script, servers)), {
    execArgv: [...nodeOptions, ...loaderOptions],
    env: { ...process.env, DATABASE_URL: databaseURL, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.stderr!.on('data', (chunk: Uint8Array) => process.stderr.write(chunk));
  heedWarnings(child.stderr!);
  const { url } = await answerOf<{ url: string }>(child, script);
  return {
    url,
    pid: child.pid!,
    async ask<Answer>(message: object) {
      const answer = answerOf<Answer>(child, script);
      child.send(message);
      return await answer;
    },
    peakMemory: () => peakOf(child.pid),
    resetPeak: () => resetPeakOf(child.pid),
    cpuMs: () => cpuMsOf(child.pid),
    stop: (signal = 'SIGTERM') =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', () => resolve());
        child.kill(signal);
      }),
  };
}

function answerOf<Answer>(child: ChildProcess, script: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${script} ended with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as Answer);
    });
  });
}

function peakOf(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}

function resetPeakOf(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The peak then covers the process's whole life.
  }
}

/**
 * Returns a process's user and system time in milliseconds; undefined if the system does not report it. Linux counts it
 * in ticks of 10 ms.
 */
export function cpuMsOf(pid: number | undefined): number | undefined {
  return statOf(pid)?.ownMs;
}

/** Linux's statistics of a process; undefined on other systems, or after the process has ended. */
export interface ProcessStat {
  readonly parent: number;
  /** The process's own processor time, in milliseconds. */
  readonly ownMs: number;
  /** The processor time of its children that have ended, in milliseconds. */
  readonly endedChildrenMs: number;
}

export function statOf(pid: number | string | undefined): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The fields from the third on. They follow the program's name, which may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ms = (first: number) => 10 * (Number(fields[first]) + Number(fields[first + 1]));
    return { parent: Number(fields[1]), ownMs: ms(11), endedChildrenMs: ms(13) };
  } catch {
    return undefined;
  }
}
