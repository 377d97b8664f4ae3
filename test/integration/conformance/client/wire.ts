/** Records what the sync clients of this process send and receive through the global `fetch`. */
import type { PullAnswer } from '../wire.js';

export interface WireExchange {
  readonly path: string;
  /** The client that sent it, according to its request ID. */
  readonly clientID: string;
  readonly authorization: string;
  readonly request: {
    readonly clientGroupID: string;
    readonly cookie: unknown;
    readonly mutations: readonly { readonly id: number; readonly clientID: string; readonly name: string }[];
  };
  readonly status: number;
  readonly answer: PullAnswer & { readonly error?: string; readonly code?: string };
}

export interface Wire {
  /** In the order of the responses. */
  readonly exchanges: readonly WireExchange[];
  pulls(clientID?: string): WireExchange[];
  pushes(clientID?: string): WireExchange[];
  stop(): void;
}

/** Starts recording. */
export function recordWire(): Wire {
  const original = globalThis.fetch;
  const exchanges: WireExchange[] = [];
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const sent = await request.clone().text();
    const response = await original(request);
    const received = await response.clone().text();
    exchanges.push({
      path: new URL(request.url).pathname,
      clientID: (request.headers.get('X-Replicache-RequestID') ?? '').replace(/-[^-]*-[^-]*$/, ''),
      authorization: request.headers.get('Authorization') ?? '',
      request: JSON.parse(sent),
      status: response.status,
      answer: JSON.parse(received),
    });
    return response;
  };
  const at = (path: string, clientID?: string) =>
    exchanges.filter((exchange) => exchange.path === path && (clientID ?? exchange.clientID) === exchange.clientID);
  return {
    exchanges,
    pulls: (clientID) => at('/sync/pull', clientID),
    pushes: (clientID) => at('/sync/push', clientID),
    stop() {
      globalThis.fetch = original;
    },
  };
}
