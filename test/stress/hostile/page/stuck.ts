/**
 * Checks that no client is `online` while a request or call of it is stuck.
 *
 * A request is stuck if its headers are missing for longer than `maxHeadersMs`, or the next part of its response for
 * longer than `maxSilenceMs`. A call is stuck if it has been pending, with the status `online` all the time, for longer
 * than a push and a pull may take: the push's deadline, the pull interval, and the pull's deadline. Time counts only
 * while the page runs: not while it is frozen, or another script blocks its thread. A stream of pokes may be silent for
 * longer, because its client relies on its own pulls during that time.
 */
import type { PendingMutation, Status } from '../../../../packages/client/src/index.js';
import { setup } from './platform.js';

const intervalMs = 250;
/** Timers are late on a busy machine. */
const graceMs = 1_500;

interface OpenRequest {
  slot: number;
  readonly url: string;
  progressAt: number;
  hasHeaders: boolean;
}

/** The time for which the page has run, in milliseconds. */
let running = 0;
let lastRunAt = performance.now();
const requests = new Set<OpenRequest>();

/** The watched part of a client. */
export interface Watched {
  readonly slot: number;
  readonly status: { get(): Status };
  readonly pending: { get(): readonly PendingMutation[] };
  readonly onStuck: (what: string) => void;
}

const watched = new Map<Watched, Map<string, number>>();

export function watch(client: Watched): void {
  watched.set(client, new Map());
}

/** Follows a page's requests by their `Authorization` header, which ends with the slot of the client. */
function followRequests({ prototype }: typeof XMLHttpRequest): void {
  const followed = new WeakMap<XMLHttpRequest, OpenRequest>();
  const { open, send, setRequestHeader } = prototype;
  prototype.open = function (...args: [method: string, url: string | URL]) {
    followed.set(this, { slot: -1, url: `${args[1]}`, progressAt: 0, hasHeaders: false });
    open.apply(this, args as never);
  };
  prototype.setRequestHeader = function (name, value) {
    if (name === 'Authorization') followed.get(this)!.slot = Number(value.split('/').at(-1));
    setRequestHeader.call(this, name, value);
  };
  prototype.send = function (body) {
    const request = followed.get(this)!;
    request.progressAt = running;
    const progress = () => {
      request.progressAt = running;
      request.hasHeaders ||= this.readyState >= this.HEADERS_RECEIVED;
    };
    this.addEventListener('readystatechange', progress);
    this.addEventListener('progress', progress);
    this.addEventListener('loadend', () => requests.delete(request));
    if (!request.url.includes('/sync/poke')) requests.add(request);
    send.call(this, body);
  };
}

if (globalThis.XMLHttpRequest) followRequests(XMLHttpRequest);

const { maxHeadersMs, maxSilenceMs } = setup.limits.requests;
const maxPendingMs = 2 * (maxHeadersMs + maxSilenceMs) + setup.pullInterval + 2 * graceMs;

setInterval(() => {
  const now = performance.now();
  running += Math.min(now - lastRunAt, 2 * intervalMs);
  lastRunAt = now;
  for (const [client, since] of watched) {
    if (client.status.get().state !== 'online') {
      since.clear();
      continue;
    }
    checkRequests(client);
    checkCalls(client, since);
  }
}, intervalMs);

function checkRequests({ slot, onStuck }: Watched): void {
  for (const request of requests) {
    const ms = running - request.progressAt;
    if (request.slot !== slot || ms < (request.hasHeaders ? maxSilenceMs : maxHeadersMs) + graceMs) continue;
    onStuck(`${request.url}, ${request.hasHeaders ? 'of which nothing more came' : 'unanswered'} for ${ms} ms`);
    requests.delete(request);
  }
}

function checkCalls({ pending, onStuck }: Watched, since: Map<string, number>): void {
  const names = new Set(pending.get().map(({ clientID, id }) => `${clientID} ${id}`));
  for (const name of since.keys()) if (!names.has(name)) since.delete(name);
  for (const name of names) {
    const first = since.get(name) ?? running;
    since.set(name, first);
    if (running - first < maxPendingMs) continue;
    onStuck(`mutation ${name}, pending for ${running - first} ms while online`);
    since.set(name, Number.POSITIVE_INFINITY);
  }
}
