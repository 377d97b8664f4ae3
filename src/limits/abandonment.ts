/** How long work is taken to last no longer than anybody waits for it, in milliseconds. */
const unwatchedMs = 1_000;

/** Work for which several wait. */
export interface Watch {
  /** Aborts when all of them have gone away. */
  readonly signal: AbortSignal;
  /** To be called when the work is done. */
  end(): void;
}

/**
 * Watches whether anybody still waits for work that takes long.
 * @param waiting what aborts when each of them goes away, undefined for whoever never does. Asked for only after a
 * second, since it takes time to create.
 */
export function watchForAbandonment(waiting: () => readonly (AbortSignal | undefined)[]): Watch {
  const controller = new AbortController();
  const present = new Set<AbortSignal | undefined>();
  const leave = (signal: AbortSignal) => {
    present.delete(signal);
    if (present.size === 0) controller.abort();
  };
  const onAbort = ({ target }: Event) => leave(target as AbortSignal);
  const timer = setTimeout(() => {
    for (const signal of waiting()) present.add(signal);
    for (const signal of present) {
      if (signal?.aborted) leave(signal);
      else signal?.addEventListener('abort', onAbort);
    }
  }, unwatchedMs);
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      for (const signal of present) signal?.removeEventListener('abort', onAbort);
    },
  };
}
