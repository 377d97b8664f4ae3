import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../errors.js';
import { endOf, errorCode, isServerOf, readPostmaster } from './processes.js';
import { canReach, type ServerUser } from './user.js';

const startLimit = 120_000;
/** For connections that are being closed: a pool says that it has ended before the last of them has. */
const smartStopLimit = 500;
const fastStopLimit = 10_000;
const immediateStopLimit = 5_000;
const logLimit = 10_000_000;

/** How to run the programs of one Postgres. */
export interface Programs {
  /** The folder with `bin`, `lib` and `share`. */
  readonly native: string;
  readonly user: ServerUser;
  /** The file that the programs' output goes to. */
  readonly logFile: string;
}

/** A program failed or did not start. The message ends with the last lines of its log. */
export class ServerFailure extends SetupError {}

type Program = 'initdb' | 'postgres' | 'pg_ctl';

/**
 * Runs a program to its end.
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
  const logged = logSize(programs);
  const child = launch(programs, program, data, args);
  child.stdin?.on('error', () => {}).end(input);
  const outcome = await endOf(child);
  if (outcome !== 'exit code 0') throw failure(programs, program, outcome, logged);
}

/**
 * Starts the server and waits until it accepts connections.
 * @param signal aborts when the server is no longer wanted
 * @throws ServerFailure if it ends before, is not ready after two minutes, or is no longer wanted.
 */
export async function startServer(
  programs: Programs,
  data: string,
  settings: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<ChildProcess> {
  const logged = logSize(programs);
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = launch(programs, 'postgres', data, (folder) => ['-D', folder, ...options]);
  server.stdin?.destroy();
  let outcome: string | undefined;
  void endOf(server).then((how) => {
    outcome = how;
  });
  for (const limit = Date.now() + startLimit; !isReady(server, data); await delay(10)) {
    if (outcome !== undefined) throw failure(programs, 'postgres', outcome, logged);
    if (Date.now() < limit && !signal?.aborted) continue;
    await stopServer(programs, data, server);
    throw failure(programs, 'postgres', signal?.aborted ? 'stopped' : `not ready after ${startLimit / 1000} s`, logged);
  }
  return server;
}

/** Shuts down a server that this process started. Disconnects its clients; everything committed is kept. */
export async function stopServer(programs: Programs, data: string, server: ChildProcess): Promise<void> {
  const isUp = (): boolean => server.pid !== undefined && server.exitCode === null && server.signalCode === null;
  await stop(programs, data, isUp, (signal) => server.kill(signal));
}

/** Stops the server that a killed process left running on this data folder. Nothing of it will block the next start. */
export async function endLeftover(programs: Programs, data: string, log: (line: string) => void): Promise<void> {
  const pid = readPostmaster(data)?.pid;
  if (pid === undefined) return;
  if (!isServerOf(pid, data)) return disownPid(data);
  log(`Stopping Postgres (process ${pid}), left running by a process that has ended.`);
  await stop(
    programs,
    data,
    () => isServerOf(pid, data),
    (signal) => process.kill(pid, signal),
  );
}

/**
 * Writes this process's ID into `postmaster.pid`. Postgres refuses to start while the process named there is alive,
 * even if it is a zombie or an unrelated process with the same ID. But it recognizes its parent's ID as stale. The file
 * must stay, since Postgres finds its shared memory by it.
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
    // On Windows, Node would kill it.
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

/** Sends a signal. The process may have ended since the check, which is fine: the signal was to end it. */
function trySend(send: (signal: NodeJS.Signals) => void, signal: NodeJS.Signals): void {
  try {
    send(signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** Windows has no signals: Node would kill the process at once. pg_ctl talks to the server through a pipe. */
async function stopOnWindows(programs: Programs, data: string): Promise<void> {
  await run(programs, 'pg_ctl', data, (folder) => ['stop', '-m', 'fast', '-W', '-D', folder]).catch(() => {});
}

/**
 * Starts a program. If root starts it, it runs as a user who may not be able to reach the data folder by its path (for
 * example below `/root`). Root then opens the folder, and the program reaches it through file descriptor 3, so that the
 * data can stay where it is. The program has its own session, so that Ctrl-C does not reach it before `stop()` is
 * called.
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

/** Not the whole environment: PG* variables would change what the server does, and it does not need the rest. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'TZ', 'SystemRoot', 'TEMP', 'TMP'];
  const kept = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

function isReady(server: ChildProcess, data: string): boolean {
  const postmaster = readPostmaster(data);
  return postmaster?.pid === server.pid && postmaster?.isReady === true;
}

/** The log's size in bytes: the next program's lines start there. Sets a large log aside first. */
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
