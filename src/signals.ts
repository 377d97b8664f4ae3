/** Stops a server when its process is told to. */
import { describeError, type Logger } from './log.js';

const watchParentMs = 200;

const startedBy = process.ppid;

export interface StopOptions {
  /** Stops the server; resolves with whether all ended in time. The signal is undefined if the server is lost. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<boolean>;
  /** Resolves with the reason when the server can no longer work. */
  readonly lost: Promise<Error> | undefined;
  readonly log: Logger;
}

/**
 * Stops at SIGTERM and SIGINT, or when the server is lost. Then ends the process: with status 1 if not all is well. A
 * second signal ends it at once. Returns a function that ends the watch.
 */
export function stopOnSignals({ stop, lost, log }: StopOptions): () => void {
  let isStopping = false;
  const end = async (signal?: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'Stopping');
    const isWell = await stop(signal).catch((error: unknown) => {
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
 * npm passes a SIGTERM on to the shell in which it runs a script, but that shell does not pass it on: if the shell is
 * gone, npm was told to stop. Returns a function that ends the watch.
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
