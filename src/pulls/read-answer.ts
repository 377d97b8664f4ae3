/** What is read without a client group, as it is sent: rows as JSON or line by line, ops as JSON or as events. */
import type { Cookie } from '../protocol/cookie.js';
import { noState, tokenOf } from '../protocol/read-token.js';
import { linesIn, type Patched } from './pulled.js';

type Bytes = AsyncGenerator<Uint8Array, undefined>;

/** The lines of a patch, as they come. */
type Lines = AsyncIterable<Uint8Array, undefined>;

const comma = 0x2c;
const newline = 0x0a;

/** Rows as a JSON array. */
export async function* rowsAsArray(patched: Patched): Bytes {
  yield* framed('[', linesIn(patched), ']');
  return undefined;
}

/** Rows with a line each: takes away the comma that each row but the first is preceded by. */
export async function* rowsAsLines(patched: Patched): Bytes {
  let isAtStart = false;
  for await (const bytes of linesIn(patched)) {
    const start = isAtStart;
    isAtStart = bytes.at(-1) === newline;
    const line = bytes.filter((byte, i) => byte !== comma || (i === 0 ? !start : bytes[i - 1] !== newline));
    if (line.length > 0) yield line;
  }
  return undefined;
}

/** The only row, as JSON; undefined if there is none. */
export async function rowOf(patched: Patched): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  for await (const bytes of linesIn(patched)) chunks.push(bytes);
  return chunks.length === 0 ? undefined : Buffer.concat(chunks).toString();
}

/** Ops as a JSON object, with the token for the next ones. */
export async function* opsAsObject(patched: Patched): Bytes {
  yield* framed(`{"cookie":"${baseOf(patched.cookie)}","patch":[${clearOf(patched)}`, linesIn(patched), ']}');
  return undefined;
}

/** The same if there are no ops. */
export function noOps(token: string): string {
  return JSON.stringify({ cookie: token, patch: [] });
}

/** Ops as a server-sent event, whose ID is the token for the next ones. */
export async function* opsAsEvent(patched: Patched, lines: Lines = linesIn(patched)): Bytes {
  const opening = `event: patch\nid: ${baseOf(patched.cookie)}\ndata: [${clearOf(patched)}`;
  yield* framed(opening, onDataLines(lines), ']\n\n');
  return undefined;
}

/** The token for the next request. */
function baseOf(cookie: Cookie): string {
  return tokenOf(cookie) ?? noState;
}

/** Whoever has data forgets it. A reader without a client group may have some, whatever it has said. */
function clearOf({ kind, held }: Patched): string {
  return kind === 'delta' || kind === 'views' ? '' : `{"op":"clear"}${held.length > 0 ? ',' : ''}`;
}

/**
 * Each line of an event's data is one of its own in the stream; a carriage return would end it, too. In JSON, either is
 * space between two tokens.
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
