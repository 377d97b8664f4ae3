/** Access to the objects of Node's HTTP server. On other runtimes, nothing happens. */

/** The `env` that the adapter of Node's HTTP server passes. */
interface NodeExchange {
  readonly incoming: {
    readonly socket?: { readonly remoteAddress?: string };
    removeAllListeners(event: string): void;
  };
  readonly outgoing: { readonly headersSent: boolean; destroy(): void };
}

/** Returns an empty object on other runtimes. */
function nodeExchange(env: unknown): Partial<NodeExchange> {
  return typeof env === 'object' && env !== null ? env : {};
}

/**
 * On Node's HTTP server, cuts off a response that has begun by destroying it. If the stream failed instead, the adapter
 * would print the error to the console. Returns false if the response cannot be destroyed.
 */
export function destroyConnection(env: unknown): boolean {
  const { outgoing } = nodeExchange(env);
  if (!outgoing?.headersSent) return false;
  outgoing.destroy();
  return true;
}

/** Returns the remote address of the connection, on Node's HTTP server. */
export function addressOf(env: unknown): string | undefined {
  return nodeExchange(env).incoming?.socket?.remoteAddress;
}

/**
 * Detaches the reader of a body. On Node's HTTP server, the unread rest of a body would block the connection's next
 * request. After the response, the adapter discards the rest, up to a limit, but only if no reader is attached.
 */
export function releaseBody(env: unknown): void {
  nodeExchange(env).incoming?.removeAllListeners('data');
}
