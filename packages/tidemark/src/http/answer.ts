/** The answers of routes. To refuse a request, a route throws a Problem instead. */
import type { StreamOwner } from './sending/stream.js';

/** A successful answer. */
export type Answer = JSONAnswer | EventStream | Reply;

/** JSON with status 200: as a whole, or in pieces as they become available. */
export type JSONAnswer =
  | { readonly kind: 'json'; readonly text: string }
  | {
      readonly kind: 'json in pieces';
      /** Sent in addition to the headers that every answer has. Default: none. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly pieces: AsyncIterable<Uint8Array>;
    };

/** Server-sent events, with status 200. */
export interface EventStream {
  readonly kind: 'events';
  /** Returns the response's body. Called once. */
  open(owner: StreamOwner): ReadableStream<Uint8Array>;
}

/** An answer with its own headers. They add to the headers that every answer has, or replace them. */
export interface Reply {
  readonly kind: 'reply';
  /** Default 200. */
  readonly status?: 200 | 304 | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/**
 * Encodes a value as a JSON answer.
 * @param value a value that JSON can represent
 */
export function json(value: unknown): JSONAnswer {
  return { kind: 'json', text: JSON.stringify(value) };
}

/** Returns the answer with more headers. They replace its headers of the same names. */
export function withHeaders(answer: JSONAnswer | Reply, headers: Reply['headers']): JSONAnswer | Reply {
  if (answer.kind === 'json') return { kind: 'reply', headers, body: answer.text };
  return { ...answer, headers: { ...answer.headers, ...headers } };
}
