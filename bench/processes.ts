import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { heedWarnings } from '../test/support/warnings.js';

/** A process that serves HTTP and does one thing at a time on request. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  ask<Answer>(message: object): Promise<Answer>;
  /** Peak resident memory in MB since the last `resetPeak`; undefined where the system does not tell. */
  peakMemory(): number | undefined;
  resetPeak(): void;
  /** Processor time used so far, in milliseconds; undefined where the system does not tell. */
  cpuMs(): number | undefined;
  /** Ends it with this signal, by default SIGTERM, and waits until it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** What a server under test answers to any message. */
export interface ServerState {
  readonly rssMB: number;
  readonly heapMB: number;
  readonly cpuMs: number;
  readonly sockets: number;
  /** The longest time for which the event loop did nothing else, since a message with `watch`. */
  readonly blockedMs: number;
}

/** Which application of `applications/` a server serves, and how. */
export interface ServerOptions {
  readonly application: string;
  /** How many connections to Postgres it may open. Default: as the package has it. */
  readonly connections?: number;
  /** More variables of the environment, for the application. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a process with the server under test, as an application would run it. */
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

/** Starts a script of `servers/`, or one that a URL names, in a process of its own. */
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
    // The peak is then that of the whole life.
  }
}

/**
 * User and system time of a process, in milliseconds; undefined where the system does not tell. Linux counts it in ticks
 * of 10 ms.
 */
export function cpuMsOf(pid: number | undefined): number | undefined {
  return statOf(pid)?.ownMs;
}

/** What Linux tells of a process; undefined where it does not, or when the process has ended. */
export interface ProcessStat {
  readonly parent: number;
  /** Its own processor time, in milliseconds. */
  readonly ownMs: number;
  /** That of its children that have ended, in milliseconds. */
  readonly endedChildrenMs: number;
}

export function statOf(pid: number | string | undefined): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the program's name, which may hold spaces: the fields from the third on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ms = (first: number) => 10 * (Number(fields[first]) + Number(fields[first + 1]));
    return { parent: Number(fields[1]), ownMs: ms(11), endedChildrenMs: ms(13) };
  } catch {
    return undefined;
  }
}
