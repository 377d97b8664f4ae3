/** How long streams of events live, and when their clients come back. */

/** How often a stream shows that it is alive. */
export const heartbeatMs = 15_000;

/** Clients that lose their server reconnect after one to three seconds, so that not all of them come back at once. */
const leastRetryMs = 1_000;
const retrySpreadMs = 2_000;
/**
 * A stream ends after about an hour, and its client opens another: not every host reports that a client went away. A
 * tenth of it is left to chance, so that not all of them end at once.
 */
const longestLifeMs = 60 * 60_000;
const lifeSpread = 0.1;

/** The longest time that a timer can wait, in milliseconds. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** After how many milliseconds a client is to reconnect. */
export function streamRetryMs(): number {
  return Math.round(leastRetryMs + Math.random() * retrySpreadMs);
}

/** How long a stream lives, in milliseconds. */
export function streamLifeMs(): number {
  return longestLifeMs * (1 - lifeSpread * Math.random());
}
