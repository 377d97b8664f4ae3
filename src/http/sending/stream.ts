/** How a streamed response ended. */
export type StreamEnd =
  | { readonly outcome: 'complete' }
  /** The client went away. */
  | { readonly outcome: 'cancelled' }
  /** The client read too slowly. */
  | { readonly outcome: 'dropped' }
  | { readonly outcome: 'failed'; readonly error: unknown };

/** What a streamed response needs of its request. */
export interface StreamOptions {
  /** Called once, when the stream has ended, with the number of bytes that were taken of it. */
  readonly onEnd: (end: StreamEnd & { readonly bytes: number }) => void;
  /** Breaks the connection if the runtime has a better way than an errored stream. Returns whether it did. */
  readonly breakOff: () => boolean;
}

/** How long a response may take, in milliseconds. */
export interface StreamLimits {
  /** How long its client may take nothing. */
  readonly stallMs: number;
  /** All of it. Default: without end. */
  readonly longestMs?: number | undefined;
}

const usualLimits: StreamLimits = { stallMs: 30_000, longestMs: 600_000 };

/**
 * Makes a response body of an iterator, which advances only as fast as the client reads. Waits for the first chunk, so
 * that a failure before it can still become an error response. A later failure, or a client that takes too long, breaks
 * the connection: the client must never mistake the part that it has for the whole.
 */
export async function toBody(
  chunks: AsyncIterable<Uint8Array>,
  options: StreamOptions,
  limits: StreamLimits = usualLimits,
): Promise<ReadableStream<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]();
  return toStream(iterator, options, limits, await iterator.next());
}

/**
 * The same at once.
 * @param begun what the iterator has yielded already
 */
export function toStream(
  iterator: AsyncIterator<Uint8Array>,
  { onEnd, breakOff }: StreamOptions,
  { stallMs, longestMs }: StreamLimits,
  begun?: IteratorResult<Uint8Array>,
): ReadableStream<Uint8Array> {
  let first = begun;
  let ended = false;
  let bytes = 0;
  let stall: NodeJS.Timeout | undefined;
  let age: NodeJS.Timeout | undefined;
  const end = (how: StreamEnd): void => {
    clearTimeout(stall);
    clearTimeout(age);
    // Only the first end counts: a broken connection also cancels the stream, and a cancelled iterator may still fail.
    if (!ended) onEnd({ ...how, bytes });
    ended = true;
  };
  // The runtime may print the stream's error, or even send it, so the error must not reveal what happened.
  const cutOff = (controller: ReadableStreamDefaultController<Uint8Array>, how: StreamEnd): void => {
    end(how);
    if (!breakOff()) controller.error(new Error('The response was cut off'));
  };
  const drop = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    cutOff(controller, { outcome: 'dropped' });
    // Whatever fails from here on concerns nobody.
    iterator.return?.().catch(() => {});
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stall = setTimeout(drop, stallMs, controller);
        if (longestMs !== undefined) age = setTimeout(drop, longestMs, controller);
      },
      async pull(controller) {
        clearTimeout(stall);
        try {
          const { done, value } = first ?? (await iterator.next());
          first = undefined;
          if (ended) return;
          if (!done) {
            controller.enqueue(value);
            bytes += value.byteLength;
            stall = setTimeout(drop, stallMs, controller);
            return;
          }
          controller.close();
          end({ outcome: 'complete' });
        } catch (error) {
          if (!ended) cutOff(controller, { outcome: 'failed', error });
        }
      },
      async cancel() {
        end({ outcome: 'cancelled' });
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
