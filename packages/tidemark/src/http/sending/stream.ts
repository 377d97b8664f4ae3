/** The outcome of a streamed response. */
export type StreamEnd =
  | { readonly outcome: 'complete' }
  /** The client disconnected. */
  | { readonly outcome: 'cancelled' }
  /** The client read too slowly. */
  | { readonly outcome: 'dropped' }
  | { readonly outcome: 'failed'; readonly error: unknown };

/** The response that a stream is the body of. */
export interface StreamOwner {
  /** Records the end of the stream, once, with the number of bytes that the client has taken. */
  ended(end: StreamEnd & { readonly bytes: number }): void;
  /** Breaks the connection if the runtime has a better way than an errored stream. Returns true if it did. */
  breakOff(): boolean;
}

/** Time limits of a response, in milliseconds. */
export interface StreamLimits {
  /** The maximum time in which the client reads nothing. */
  readonly stallMs: number;
  /** The maximum duration of the whole response. Default: no limit. */
  readonly maxDurationMs?: number | undefined;
}

const defaultLimits: StreamLimits = { stallMs: 30_000, maxDurationMs: 600_000 };

/**
 * Creates a response body from an iterator, which advances only as fast as the client reads. Waits for the first chunk,
 * so that an earlier failure can still become an error response. A later failure, or a client that takes too long,
 * breaks the connection: the client must never mistake the part that it has for the whole.
 */
export async function toBody(
  chunks: AsyncIterable<Uint8Array>,
  owner: StreamOwner,
  limits: StreamLimits = defaultLimits,
): Promise<ReadableStream<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]();
  return toStream(iterator, owner, limits, await iterator.next());
}

/**
 * Creates a response body as `toBody` does, but does not wait: any failure breaks the connection.
 * @param firstResult a result that the iterator has already yielded
 */
export function toStream(
  iterator: AsyncIterator<Uint8Array>,
  owner: StreamOwner,
  { stallMs, maxDurationMs }: StreamLimits,
  firstResult?: IteratorResult<Uint8Array>,
): ReadableStream<Uint8Array> {
  let first = firstResult;
  let ended = false;
  let bytes = 0;
  let stall: NodeJS.Timeout | undefined;
  let age: NodeJS.Timeout | undefined;
  const end = (how: StreamEnd): void => {
    clearTimeout(stall);
    clearTimeout(age);
    // Only the first end counts: a broken connection also cancels the stream, and a cancelled iterator may still fail.
    if (!ended) owner.ended({ ...how, bytes });
    ended = true;
  };
  // The runtime may print the stream's error, or even send it, so the error must not reveal what happened.
  const cutOff = (controller: ReadableStreamDefaultController<Uint8Array>, how: StreamEnd): void => {
    end(how);
    if (!owner.breakOff()) controller.error(new Error('The response was cut off'));
  };
  const drop = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    cutOff(controller, { outcome: 'dropped' });
    // Later failures do not matter.
    iterator.return?.().catch(() => {});
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stall = setTimeout(drop, stallMs, controller);
        if (maxDurationMs !== undefined) age = setTimeout(drop, maxDurationMs, controller);
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
