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
  /** Called once, when the stream has ended. */
  readonly onEnd: (end: StreamEnd) => void;
  /** Breaks the connection if the runtime has a better way than an errored stream. Returns whether it did. */
  readonly breakOff: () => boolean;
}

/**
 * Makes a response body of an iterator, which advances only as fast as the client reads. Waits for the first chunk, so
 * that a failure before it can still become an error response. A later failure breaks the connection: the client must
 * never mistake the part that it has for the whole.
 */
export async function toBody(
  chunks: AsyncIterable<Uint8Array>,
  { onEnd, breakOff }: StreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: IteratorResult<Uint8Array> | undefined = await iterator.next();
  let ended = false;
  const end = (how: StreamEnd): void => {
    // Only the first end counts: a broken connection also cancels the stream, and a cancelled iterator may still fail.
    if (!ended) onEnd(how);
    ended = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = first ?? (await iterator.next());
          first = undefined;
          if (!done) return controller.enqueue(value);
          controller.close();
          end({ outcome: 'complete' });
        } catch (error) {
          end({ outcome: 'failed', error });
          // The runtime may print the stream's error, or even send it, so the error must not reveal what happened.
          if (!breakOff()) controller.error(new Error('The response was cut off'));
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
