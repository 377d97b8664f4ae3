import { type ChildProcess, execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the code of a system error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** Returns a file's text; undefined if there is no such file. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Checks whether a process is running. A zombie still accepts signal 0, but is not running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  return !['Z', 'X'].includes(linuxStatus(pid)?.[0] ?? '');
}

/** Resolves with how a child process ended, or why it could not start; immediately if it has already ended. */
export function endOf(child: ChildProcess): Promise<string> {
  const outcome = () => (child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`);
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(outcome());
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(outcome()));
  });
}

/** Returns when a process started, as text to compare. Process IDs are soon reused, especially in containers. */
export function startMark(pid: number): string {
  if (process.platform === 'win32') return '';
  if (process.platform !== 'linux') return askPs(pid, 'lstart=');
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${bootId} ${linuxStatus(pid)?.[19] ?? ''}`;
}

/** Checks whether the process is a Postgres server that uses this data folder. */
export function isServerOf(pid: number, data: string): boolean {
  if (!isRunning(pid)) return false;
  if (process.platform === 'linux') return isNamedPostgres(pid) && worksIn(pid, data);
  if (process.platform === 'win32') return askTasklist(pid).includes('postgres');
  const command = askPs(pid, 'command=');
  return command.includes('postgres') && command.includes(data);
}

/** A server, as its `postmaster.pid` describes it. */
export interface Postmaster {
  readonly pid: number;
  /** The TCP port; NaN until the server has chosen it. */
  readonly port: number;
  /** True if it accepts connections. */
  readonly isReady: boolean;
}

/** Returns the server that `postmaster.pid` names, which may have ended; undefined if there is no such file. */
export function readPostmaster(data: string): Postmaster | undefined {
  const lines = readIfThere(join(data, 'postmaster.pid'))?.split('\n') ?? [];
  // A minus sign marks single-user mode.
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (Number.isNaN(pid)) return undefined;
  // The server writes to line 8 when it is ready; pg_ctl relies on this too.
  return { pid, port: Number.parseInt(lines[3] ?? '', 10), isReady: lines[7]?.trim() === 'ready' };
}

/** Returns the fields of `/proc/<pid>/stat` from the state on. The name before it can contain spaces and brackets. */
function linuxStatus(pid: number): string[] | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function isNamedPostgres(pid: number): boolean {
  return readIfThere(`/proc/${pid}/comm`)?.startsWith('postgres') ?? false;
}

/** Checks whether a process works in the data folder, as its server does. Compares device and inode, not paths. */
function worksIn(pid: number, data: string): boolean {
  try {
    const [actual, expected] = [statSync(`/proc/${pid}/cwd`), statSync(data)];
    return actual.ino === expected.ino && actual.dev === expected.dev;
  } catch {
    return false;
  }
}

function askPs(pid: number, column: string): string {
  return outputOf('ps', ['-o', column, '-p', String(pid)]);
}

function askTasklist(pid: number): string {
  return outputOf('tasklist', ['/NH', '/FO', 'CSV', '/FI', `PID eq ${pid}`]);
}

function outputOf(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } }).trim();
  } catch {
    return '';
  }
}
