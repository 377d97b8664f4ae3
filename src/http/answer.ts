/** What a route answers a request with. A refusal is thrown instead, as a Problem. */
import type { StreamOptions } from './stream.js';

export type Answer = JSONAnswer | EventStream | Reply;

/** JSON with status 200: whole, or in pieces as they are made. */
export type JSONAnswer =
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'json in pieces'; readonly pieces: AsyncIterable<Uint8Array> };

/** Server-sent events, with status 200. */
export interface EventStream {
  readonly kind: 'events';
  /** The response's body; called once. */
  open(options: StreamOptions): ReadableStream<Uint8Array>;
}

/** An answer with headers of its own, in addition to those of every answer or in place of them. */
export interface Reply {
  readonly kind: 'reply';
  /** Default 200. */
  readonly status?: 200 | 304 | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** @param value what JSON can hold */
export function json(value: unknown): JSONAnswer {
  return { kind: 'json', text: JSON.stringify(value) };
}
