import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.js';
import { endOf, errorCode, isServerOf, readPostmaster } from './processes.js';
import { SetupError } from './setup-error.js';
import { canReach, type ServerUser } from './user.js';

const startLimit = 120_000;
/** The time for closing connections to end: a pool reports that it has ended before the last of them has. */
const smartStopLimit = 500;
const fastStopLimit = 10_000;
const immediateStopLimit = 5_000;
const logLimit = 10_000_000;

/** The programs of one Postgres, and how to run them. */
export interface Programs {
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  readonly user: ServerUser;
  /** The file that receives the programs' output. */
  readonly logFile: string;
}

/** The failure of a program, or of its start. The message ends with the last lines of its log. */
export class ServerFailure extends SetupError {}

type Program = 'initdb' | 'postgres' | 'pg_ctl';

/**
 * Runs a program until it ends.
 * @param args returns the arguments, given a path under which the program can reach the data folder
 * @throws ServerFailure unless the exit code is 0.
 */
export async function run(
  programs: Programs,
  program: Program,
  data: string,
  args: (folder: string) => readonly string[],
  input = '',
): Promise<void> {
  const logOffset = logSize(programs);
  const child = launch(programs, program, data, args);
  child.stdin?.on('error', () => {}).end(input);
  const outcome = await endOf(child);
  if (outcome !== 'exit code 0') throw failure(programs, program, outcome, logOffset);
}

/**
 * Starts the server and waits until it accepts connections.
 * @param signal aborts when the server is no longer needed
 * @throws ServerFailure if the server ends before, is not ready after two minutes, or is no longer needed.
 */
export async function startServer(
  programs: Programs,
  data: string,
  settings: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<ChildProcess> {
  const logOffset = logSize(programs);
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = launch(programs, 'postgres', data, (folder) => ['-D', folder, ...options]);
  server.stdin?.destroy();
  let outcome: string | undefined;
  void endOf(server).then((how) => {
    outcome = how;
  });
  for (const limit = Date.now() + startLimit; !isReady(server, data); await delay(10)) {
    if (outcome !== undefined) throw failure(programs, 'postgres', outcome, logOffset);
    if (Date.now() < limit && !signal?.aborted) continue;
    await stopServer(programs, data, server);
    throw failure(
      programs,
      'postgres',
      signal?.aborted ? 'stopped' : `not ready after ${startLimit / 1000} s`,
      logOffset,
    );
  }
  return server;
}

/** Shuts down a server that this process started. Disconnects its clients; committed data is not lost. */
export async function stopServer(programs: Programs, data: string, server: ChildProcess): Promise<void> {
  const isUp = (): boolean => server.pid !== undefined && server.exitCode === null && server.signalCode === null;
  await stop(programs, data, isUp, (signal) => server.kill(signal));
}

/** Stops the server that a killed process left running on this data folder, so that it cannot block the next start. */
export async function endLeftover(programs: Programs, data: string, log: Pick<Log, 'info'>): Promise<void> {
  const pid = readPostmaster(data)?.pid;
  if (pid === undefined) return;
  if (!isServerOf(pid, data)) return disownPid(data);
  log.info({}, `Stopping Postgres (process ${pid}), left running by a process that has ended.`);
  await stop(
    programs,
    data,
    () => isServerOf(pid, data),
    (signal) => process.kill(pid, signal),
  );
}

/**
 * Writes this process's ID into `postmaster.pid`. Postgres refuses to start while the process named there is alive,
 * even if it is a zombie or an unrelated process with the same ID. But it treats its parent's ID as stale. The file
 * must stay, because Postgres finds its shared memory through it.
 */
function disownPid(data: string): void {
  const path = join(data, 'postmaster.pid');
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, [process.pid, ...lines.slice(1)].join('\n'));
}

async function stop(
  programs: Programs,
  data: string,
  isUp: () => boolean,
  send: (signal: NodeJS.Signals) => void,
): Promise<void> {
  const steps = [
    // On Windows, Node would kill the server.
    ...(process.platform === 'win32' ? [] : [['SIGTERM', smartStopLimit] as const]),
    ['SIGINT', fastStopLimit],
    ['SIGQUIT', immediateStopLimit],
    ['SIGKILL', immediateStopLimit],
  ] as const;
  for (const [signal, limit] of steps) {
    if (!isUp()) return;
    if (process.platform === 'win32' && signal === 'SIGINT') await stopOnWindows(programs, data);
    else trySend(send, signal);
    for (const end = Date.now() + limit; isUp() && Date.now() < end; ) await delay(10);
  }
}

/** Sends a signal that ends a process. Ignores that the process may have ended since the check. */
function trySend(send: (signal: NodeJS.Signals) => void, signal: NodeJS.Signals): void {
  try {
    send(signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** Windows has no signals, so Node would kill the process immediately. pg_ctl talks to the server through a pipe. */
async function stopOnWindows(programs: Programs, data: string): Promise<void> {
  await run(programs, 'pg_ctl', data, (folder) => ['stop', '-m', 'fast', '-W', '-D', folder]).catch(() => {});
}

/**
 * Starts a program. If root starts it, it runs as a user that may be unable to reach the data folder by its path (for
 * example below `/root`). Root then opens the folder, and the program reaches it through file descriptor 3, so that the
 * data can stay where it is. The program has its own session, so that Ctrl-C does not reach it before the call of
 * `stop()`.
 */
function launch(
  { native, user, logFile }: Programs,
  program: Program,
  data: string,
  args: (folder: string) => readonly string[],
): ChildProcess {
  const files = [openSync(logFile, 'a', 0o600)];
  const reachable = canReach(user, data);
  if (!reachable) files.push(openSync(data, 'r'));
  const [log, ...folder] = files;
  try {
    return spawn(join(native, 'bin', program), args(reachable ? data : '/proc/self/fd/3'), {
      ...user,
      cwd: parse(data).root,
      env: serverEnvironment(),
      stdio: ['pipe', log, log, ...folder],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** Selects few variables: those named PG* would change the server's behavior, and it does not need the rest. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'TZ', 'SystemRoot', 'TEMP', 'TMP'];
  const variables = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(variables), LC_ALL: 'C' };
}

function isReady(server: ChildProcess, data: string): boolean {
  const postmaster = readPostmaster(data);
  return postmaster?.pid === server.pid && postmaster?.isReady === true;
}

/** Returns the log's size in bytes, which is where the next program's lines start. Renames a large log first. */
function logSize({ logFile }: Programs): number {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size < logLimit) return size;
  renameSync(logFile, `${logFile}.1`);
  return 0;
}

function failure({ logFile }: Programs, program: Program, outcome: string, from: number): ServerFailure {
  const hint = outcome.includes('ENOENT') ? ' (these binaries need glibc: on Alpine, set DATABASE_URL)' : '';
  const lines = readFileSync(logFile).subarray(from).toString().trimEnd().split('\n').slice(-15);
  return new ServerFailure(
    `Postgres did not start: ${program}: ${outcome}${hint}. ${logFile} ends with:\n${lines.join('\n')}`,
  );
}
