/** The responses to reads, which have no client group: rows as JSON or as lines, ops as JSON or as events. */
import type { Cookie } from '../../protocol/cookie.js';
import { noState, tokenOf } from '../../protocol/read-token.js';
import { linesIn, type PatchResult } from '../../pulls/pull-result.js';

type Bytes = AsyncGenerator<Uint8Array, undefined>;

/** The lines of a patch, in chunks that may begin and end anywhere. */
type Lines = AsyncIterable<Uint8Array, undefined>;

const comma = 0x2c;
const newline = 0x0a;

/** Yields rows as a JSON array. */
export async function* rowsAsArray(patchResult: PatchResult): Bytes {
  yield* framed('[', linesIn(patchResult), ']');
  return undefined;
}

/** Yields one row per line, without the comma that precedes each row but the first. */
export async function* rowsAsLines(patchResult: PatchResult): Bytes {
  let isAtStart = false;
  for await (const bytes of linesIn(patchResult)) {
    const start = isAtStart;
    isAtStart = bytes.at(-1) === newline;
    const line = bytes.filter((byte, i) => byte !== comma || (i === 0 ? !start : bytes[i - 1] !== newline));
    if (line.length > 0) yield line;
  }
  return undefined;
}

/** Returns rows as JSON, with commas between them; undefined if there are none. */
export async function rowsText(patchResult: PatchResult): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  for await (const bytes of linesIn(patchResult)) chunks.push(bytes);
  return chunks.length === 0 ? undefined : Buffer.concat(chunks).toString();
}

/** Yields ops as a JSON object, with the token for the next request. */
export async function* opsAsObject(patchResult: PatchResult): Bytes {
  yield* framed(
    `{"cookie":"${baseOf(patchResult.cookie)}","patch":[${clearOf(patchResult)}`,
    linesIn(patchResult),
    ']}',
  );
  return undefined;
}

/** Returns the JSON object of a response without ops. */
export function noOps(token: string): string {
  return JSON.stringify({ cookie: token, patch: [] });
}

/** Yields ops as a server-sent event, whose ID is the token for the next request. */
export async function* opsAsEvent(patchResult: PatchResult, lines: Lines = linesIn(patchResult)): Bytes {
  const opening = `event: patch\nid: ${baseOf(patchResult.cookie)}\ndata: [${clearOf(patchResult)}`;
  yield* framed(opening, onDataLines(lines), ']\n\n');
  return undefined;
}

/** Returns the token for the next request. */
export function baseOf(cookie: Cookie): string {
  return tokenOf(cookie) ?? noState;
}

/** Returns a `clear` op, unless this is a delta. A reader may have data even if its request had no token. */
function clearOf({ kind, firstChunks }: PatchResult): string {
  return kind === 'delta' || kind === 'views' ? '' : `{"op":"clear"}${firstChunks.length > 0 ? ',' : ''}`;
}

/**
 * Puts `data:` before each line of an event's data. Replaces carriage returns, which would also end a line. In JSON,
 * both are white space between tokens.
 */
async function* onDataLines(lines: Lines): Bytes {
  for await (const bytes of lines) {
    const text = Buffer.from(bytes).toString('latin1').replaceAll('\r', ' ').replaceAll('\n', '\ndata: ');
    yield Buffer.from(text, 'latin1');
  }
  return undefined;
}

async function* framed(opening: string, lines: Lines, closing: string): Bytes {
  let start = Buffer.from(opening);
  for await (const bytes of lines) {
    yield start.length > 0 ? Buffer.concat([start, bytes]) : bytes;
    start = Buffer.alloc(0);
  }
  yield Buffer.concat([start, Buffer.from(closing)]);
  return undefined;
}
