/** Stops a server when its process receives a signal. */
import { describeError, type Logger } from './log.js';

const watchParentMs = 200;

const startedBy = process.ppid;

/** A server that can be stopped. */
export interface Stoppable {
  /**
   * Stops the server.
   * @param delayMs milliseconds for which it still accepts connections
   * @returns true if everything ended in time
   */
  stop(delayMs: number): Promise<boolean>;
}

export interface StopOptions {
  /** Milliseconds for which the server still accepts connections after SIGTERM. */
  readonly drainDelayMs: number;
  /** Resolves with the reason when the server can no longer work. */
  readonly lost: Promise<Error> | undefined;
  readonly log: Logger;
}

/**
 * Stops the server on SIGTERM and SIGINT, or when it is lost. Then exits: with status 0 if a signal stopped it and
 * everything ended in time, otherwise with 1. A second signal exits immediately. Returns a function that undoes this.
 */
export function stopOnSignals(server: Stoppable, { drainDelayMs, lost, log }: StopOptions): () => void {
  let isStopping = false;
  const end = async (signal?: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'Stopping');
    const isWell = await server.stop(signal === 'SIGTERM' ? drainDelayMs : 0).catch((error: unknown) => {
      log.error({ error: describeError(error) }, 'Stopping failed');
      return false;
    });
    process.exit(isWell && signal !== undefined ? 0 : 1);
  };
  const onSignal = (signal: NodeJS.Signals) => (isStopping ? process.exit(1) : end(signal));
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const unwatch = onNpmGone(() => end('SIGTERM'));
  lost?.then((error) => {
    log.error({ error: describeError(error) }, 'The service cannot go on');
    return end();
  });
  return () => {
    isStopping = true;
    unwatch();
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
  };
}

/**
 * Stops when npm is stopped. npm forwards SIGTERM to the shell in which it runs a script, but the shell does not
 * forward it: this process only sees that the shell has ended. Returns a function that ends the check.
 */
function onNpmGone(stop: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {};
  const watch = setInterval(() => {
    if (process.ppid === startedBy) return;
    clearInterval(watch);
    stop();
  }, watchParentMs).unref();
  return () => clearInterval(watch);
}
