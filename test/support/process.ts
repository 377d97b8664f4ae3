import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { heedWarnings } from './warnings.js';

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running program, with its output so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Output>;
  /** Resolves with the match when stdout or stderr contains it; rejects if the program ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

export interface RunOptions {
  readonly cwd: string;
  /** Variables that are undefined are not inherited. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A program other than this Node. It leads a process group of its own. */
  readonly program?: string | undefined;
}

/**
 * Starts Node, or another program, with these arguments, of which the first is usually a file. The program inherits
 * this process's environment, except the variables that name a database or a port.
 */
export function start(file: string, args: readonly string[], { cwd, env, program }: RunOptions): Running {
  const { DATABASE_URL: _, PORT: __, HOST: ___, TIDEMARK_DATA: ____, LOG_LEVEL: _____, ...inherited } = process.env;
  const child = spawn(program ?? process.execPath, [file, ...args], {
    cwd,
    env: { ...inherited, ...env },
    stdio: 'pipe',
    detached: program !== undefined,
  });
  const output = { stdout: '', stderr: '' };
  let onData = () => {};
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      onData();
    });
  }
  heedWarnings(child.stderr);
  const ended = new Promise<Output>((resolve) =>
    child.once('close', (code, signal) => resolve({ ...output, code, signal })),
  );
  return {
    child,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        onData = () => {
          const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
          if (match) resolve(match);
        };
        ended.then(({ stdout, stderr }) =>
          reject(new Error(`it ended before it printed ${pattern}:\n${stdout}${stderr}`)),
        );
        onData();
      }),
  };
}

/** Runs a file with Node until it exits. */
export function run(file: string, args: readonly string[], options: RunOptions): Promise<Output> {
  return start(file, args, options).ended;
}

/** A port that is currently free. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** The process ID of the Postgres server that uses a data folder; undefined if none is alive. */
export function livingPostgres(dataFolder: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8'), 10);
    process.kill(pid, 0);
    return pid;
  } catch {
    // The file, or the process, does not exist.
    return undefined;
  }
}
