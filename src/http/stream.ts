/** How a streamed response ended. */
export type StreamEnd =
  | { readonly outcome: 'complete' }
  /** The client went away. */
  | { readonly outcome: 'cancelled' }
  /** The client read too slowly. */
  | { readonly outcome: 'dropped' }
  | { readonly outcome: 'failed'; readonly error: unknown };

export interface StreamOptions {
  /** Called once, when the stream has ended. */
  readonly onEnd: (end: StreamEnd) => void;
  /** Breaks the connection where the runtime has a better way than an errored stream. True when it has done so. */
  readonly breakOff: () => boolean;
}

/**
 * A response body out of an iterator, one chunk at a time as the client takes them. The first chunk is awaited here, so
 * that what fails before it can still be answered with an error. What fails later breaks the connection: the client
 * must never take the part that it has for the whole.
 */
export async function toBody(
  chunks: AsyncIterable<Uint8Array>,
  { onEnd, breakOff }: StreamOptions,
): Promise<ReadableStream<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: IteratorResult<Uint8Array> | undefined = await iterator.next();
  let ended = false;
  const end = (how: StreamEnd): void => {
    // A connection that is broken off cancels its stream in turn, and a cancelled iterator may fail yet.
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
          // The runtime may print the stream's error, or even send it: it gets none of what really happened.
          if (!breakOff()) controller.error(new Error('The response broke off'));
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
