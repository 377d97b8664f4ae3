/** An event of a stream, or the delay before reconnecting. */
export interface ServerEvent {
  readonly id?: string | undefined;
  readonly data?: string | undefined;
  /** In milliseconds. */
  readonly retry?: number | undefined;
}

/**
 * Reads server-sent events as Tidemark sends them: with a line feed at the end of each line.
 * @param onBytes called whenever data arrives
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onBytes: () => void,
): AsyncGenerator<ServerEvent> {
  let partial = '';
  let pending: string[] = [];
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    onBytes();
    const lines = (partial + text).split('\n');
    partial = lines.pop()!;
    for (const line of lines) {
      if (line !== '') pending.push(line);
      else if (pending.length > 0) {
        yield eventIn(pending);
        pending = [];
      }
    }
  }
}

function eventIn(lines: readonly string[]): ServerEvent {
  const valuesOf = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
  const data = valuesOf('data');
  const [retry] = valuesOf('retry');
  return {
    id: valuesOf('id')[0],
    data: data.length === 0 ? undefined : data.join('\n'),
    retry: retry === undefined ? undefined : Number(retry),
  };
}
