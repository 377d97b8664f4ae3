/**
 * Waits without adding a listener to the signal. The engine waits for a minute after each pull, so a busy client would
 * have hundreds of listeners, and Node warns above ten.
 */
import { AbortError } from './abort-error.js';

/** For each signal, the functions that wake the waiters. */
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
