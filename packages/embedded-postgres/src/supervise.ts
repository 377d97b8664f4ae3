import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { guardAgainstCrash } from './guard.js';
import type { Log } from './log.js';
import { endOf } from './processes.js';
import { type Programs, stopServer } from './server.js';
import { SetupError } from './setup-error.js';

/** The pauses before each attempt to restart the server, in milliseconds. If the last one fails, the server is lost. */
const pausesMs = [0, 1_000, 3_000, 10_000, 30_000];
/** Once a server has run for this many milliseconds, it has all attempts again. */
const steadyMs = 60_000;

/** The parts needed to run a server. */
export interface Operation {
  readonly programs: Programs;
  /** The data folder. */
  readonly data: string;
  /** Restarts the server. Rejects if that fails, and soon after the signal aborts. */
  start(signal: AbortSignal): Promise<ChildProcess>;
  readonly log: Pick<Log, 'warn'>;
}

/** A server that restarts when it ends. */
export interface Supervision {
  /** Resolves with the reason if the server has ended and cannot be restarted. */
  readonly lost: Promise<Error>;
  /** Stops the server, even during a restart. Further calls wait for the first. */
  stop(): Promise<void>;
}

/** Supervises a server that has just started. Neither the server nor its guard keeps this process alive. */
export function supervise(first: ChildProcess, operation: Operation): Supervision {
  const stopping = new AbortController();
  const end = keepRunning(first, operation, stopping.signal);
  return {
    lost: new Promise((resolve) => end.catch(resolve)),
    stop() {
      stopping.abort();
      return end.catch(() => {});
    },
  };
}

/** @throws SetupError if the server ends and no attempts are left. */
async function keepRunning(first: ChildProcess, operation: Operation, signal: AbortSignal): Promise<void> {
  const abortion = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  let restarts = 0;
  for (let starting = Promise.resolve(first); ; starting = operation.start(signal)) {
    let since = Number.POSITIVE_INFINITY;
    const reason = await starting
      .then((server) => {
        since = performance.now();
        return run(server, operation, abortion);
      })
      .catch((error: Error) => error.message);
    if (signal.aborted) return;
    if (performance.now() - since > steadyMs) restarts = 0;
    const pauseMs = pausesMs[restarts++];
    if (pauseMs === undefined) throw giveUpError(reason);
    operation.log.warn({}, `${reason}\nStarting Postgres again${pauseMs > 0 ? ` in ${pauseMs / 1_000} s` : ''}.`);
    await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
  }
}

/** Waits until the server ends, or stops it when `abortion` resolves. Returns how it ended. */
async function run(server: ChildProcess, { programs, data }: Operation, abortion: Promise<void>): Promise<string> {
  guardAgainstCrash(server, programs.user);
  server.unref();
  const how = await Promise.race([endOf(server), abortion]);
  if (how === undefined) await stopServer(programs, data, server);
  return `Postgres ended by itself (${how}): see ${programs.logFile}.`;
}

function giveUpError(reason: string): SetupError {
  return new SetupError(`Postgres was given up after ${pausesMs.length} attempts to start it again. ${reason}`);
}
