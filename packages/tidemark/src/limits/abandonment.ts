/** How long work runs before its clients are watched, in milliseconds. */
const gracePeriodMs = 1_000;

/** A watch over the clients that wait for the same work. */
export interface AbandonmentWatch {
  /** Aborts when all of them have disconnected. */
  readonly signal: AbortSignal;
  /** Stops watching. Call it when the work is done. */
  end(): void;
}

/**
 * Watches whether any client still waits for work that takes long.
 * @param waitingSignals returns, for each client, a signal that aborts when it disconnects; undefined if it never does.
 * Called only after a second, because creating signals takes time.
 */
export function watchForAbandonment(waitingSignals: () => readonly (AbortSignal | undefined)[]): AbandonmentWatch {
  const controller = new AbortController();
  const openSignals = new Set<AbortSignal | undefined>();
  const remove = (signal: AbortSignal) => {
    openSignals.delete(signal);
    if (openSignals.size === 0) controller.abort();
  };
  const onAbort = ({ target }: Event) => remove(target as AbortSignal);
  const timer = setTimeout(() => {
    for (const signal of waitingSignals()) openSignals.add(signal);
    for (const signal of openSignals) {
      if (signal?.aborted) remove(signal);
      else signal?.addEventListener('abort', onAbort);
    }
  }, gracePeriodMs);
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      for (const signal of openSignals) signal?.removeEventListener('abort', onAbort);
    },
  };
}
