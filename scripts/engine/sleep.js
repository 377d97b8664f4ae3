/**
 * Waits without a listener of its own on the signal: the engine waits a minute after each pull, so that a busy client
 * would have hundreds of them, and Node warns from the eleventh on.
 */
import { AbortError } from './abort-error.js';

/** For each signal, what wakes those who wait. */
const waiting = new WeakMap();

function wakersOf(signal) {
  const known = waiting.get(signal);
  if (known) return known;
  const wakers = new Set();
  const wakeAll = () => {
    for (const wake of wakers) wake();
  };
  signal.addEventListener('abort', wakeAll, { once: true });
  waiting.set(signal, wakers);
  return wakers;
}

/** @throws AbortError when the signal is aborted */
export function sleep(ms, signal) {
  if (signal?.aborted) return Promise.reject(new AbortError('Aborted'));
  if (ms === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const wakers = signal && wakersOf(signal);
    const wake = () => {
      clearTimeout(timer);
      reject(new AbortError('Aborted'));
    };
    const timer = setTimeout(() => {
      wakers?.delete(wake);
      resolve();
    }, ms);
    wakers?.add(wake);
  });
}
