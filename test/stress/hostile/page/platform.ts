/** Removes functions of the platform and sets the clock, before the client's code is loaded. */
import type { PageSetup, PlatformFunction } from './setup.js';

export const setup: PageSetup = JSON.parse(decodeURIComponent(location.hash.slice(1)));

const removals: Record<PlatformFunction, () => void> = {
  'navigator.locks': () => Object.defineProperty(Navigator.prototype, 'locks', { value: undefined }),
  BroadcastChannel: () => Reflect.deleteProperty(globalThis, 'BroadcastChannel'),
  'AbortSignal.any': () => Reflect.deleteProperty(AbortSignal, 'any'),
  'AbortSignal.timeout': () => Reflect.deleteProperty(AbortSignal, 'timeout'),
  TextDecoderStream: () => Reflect.deleteProperty(globalThis, 'TextDecoderStream'),
  'Response.prototype.body': () => Reflect.deleteProperty(Response.prototype, 'body'),
  XMLHttpRequest: () => Reflect.deleteProperty(globalThis, 'XMLHttpRequest'),
};

for (const name of setup.missing) removals[name]();

let { clockOffsetMs } = setup;
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});

function now(): number {
  return RealDate.now() + clockOffsetMs;
}

/** Sets the page's clock. Monotonic clocks, such as `performance.now`, continue unchanged. */
export function setClock(offsetMs: number): void {
  clockOffsetMs = offsetMs;
}
