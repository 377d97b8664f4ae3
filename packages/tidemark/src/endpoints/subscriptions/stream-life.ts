/** The lifetime of event streams, and the delay before their clients reconnect. */

/** The interval between keep-alive comments, in milliseconds. */
export const keepAliveMs = 15_000;

/** Clients that lose their server reconnect after one to three seconds, so that not all reconnect at the same time. */
const minRetryMs = 1_000;
const retrySpreadMs = 2_000;
/**
 * A stream ends after about an hour, and its client opens another, because not every host reports that a client has
 * disconnected. A tenth of the lifetime is random, so that not all streams end at the same time.
 */
const maxLifeMs = 60 * 60_000;
const lifeSpread = 0.1;

/** The maximum delay of a timer, in milliseconds. */
export const maxTimerMs: number = 2 ** 31 - 1;

/** Returns the delay before a client reconnects, in milliseconds. */
export function streamRetryMs(): number {
  return Math.round(minRetryMs + Math.random() * retrySpreadMs);
}

/** Returns the lifetime of a stream, in milliseconds. */
export function streamLifeMs(): number {
  return maxLifeMs * (1 - lifeSpread * Math.random());
}
