/** Subscribes to pokes as a client does, and counts them. */
import { vi } from 'vitest';

export interface PokeReader {
  /** The number of pokes so far, including the initial one. */
  pokes(): number;
  /** Resolves when this many have arrived. */
  poked(count: number): Promise<void>;
  /** Resolves when either side has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

export interface ReaderOptions {
  readonly user: string;
  readonly clientGroupID?: string;
  /** The wanted instances of views with arguments. */
  readonly wants?: readonly object[];
}

/** @param send `fetch`, or a server's own; it receives a path */
export async function listenForPokes(
  send: (path: string, init: RequestInit) => Promise<Response>,
  { user, clientGroupID = `group of ${user}`, wants }: ReaderOptions,
): Promise<PokeReader> {
  const abort = new AbortController();
  const query = new URLSearchParams({ clientGroupID, profileID: 'p' });
  const headers = { Authorization: `Bearer ${user}`, 'Content-Type': 'application/json' };
  const body = wants && { method: 'POST', body: JSON.stringify({ wants }) };
  const response = await send(`/sync/poke?${query}`, { headers, signal: abort.signal, ...body });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const reader = response.body!.getReader();
  let text = '';
  const read = async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += Buffer.from(value).toString();
    }
  };
  const pokes = () => text.split('data: poke\n\n').length - 1;
  return {
    pokes,
    poked: (count) =>
      vi.waitFor(
        () => {
          if (pokes() < count) throw new Error(`${pokes()} pokes have come, not ${count}`);
        },
        { timeout: 10_000, interval: 5 },
      ),
    ended: read().catch(() => {}),
    close() {
      abort.abort();
      reader.cancel().catch(() => {});
    },
  };
}
