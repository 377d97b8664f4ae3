/** The responses to pulls of sync clients. */
import type { JSONAnswer } from '../http/answer.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import { type PullRequest, unchangedText } from '../protocol/pull.js';
import { linesIn, type Patched, type Pulled } from './pulled.js';

const closing = ']}';

/** Up to this size, in bytes, a body is cheaper to send whole. Longer bodies share the bytes of their ops. */
const wholeBytes = 16 * 1024;

/** @param onOps called with the number of ops when they have been sent */
export function toAnswer(
  { cookie }: PullRequest,
  pulled: Pulled,
  onOps: (ops: number) => void,
): ProtocolError | JSONAnswer {
  if (pulled.kind === 'unchanged') return { kind: 'json', text: pulled.known.unchanged };
  if (pulled.kind === 'behind') return { kind: 'json', text: unchangedText(cookie) };
  if (pulled.kind === 'lost') return { error: 'ClientStateNotFound' };
  const { held, more } = pulled;
  const opening = openingOf(pulled);
  const isWhole = !more && held.reduce((sum, { length }) => sum + length, 0) <= wholeBytes;
  if (!isWhole) return { kind: 'json in pieces', pieces: pieces(opening, pulled, onOps) };
  onOps(held.reduce((sum, bytes) => sum + countLines(bytes), 0));
  return { kind: 'json', text: `${opening}${Buffer.concat(held).toString()}${closing}` };
}

/** Up to and including what precedes the first op that has been read. */
function openingOf({ kind, cookie, lastMutationIDChanges, held }: Patched): string {
  const clear = kind === 'reset' ? `{"op":"clear"}${held.length > 0 ? ',' : ''}` : '';
  const changes = JSON.stringify(lastMutationIDChanges);
  return `{"cookie":${JSON.stringify(cookie)},"lastMutationIDChanges":${changes},"patch":[${clear}`;
}

async function* pieces(opening: string, patched: Patched, onOps: (ops: number) => void): AsyncGenerator<Uint8Array> {
  let ops = 0;
  let start = Buffer.from(opening);
  try {
    for await (const bytes of linesIn(patched)) {
      ops += countLines(bytes);
      yield start.length > 0 ? Buffer.concat([start, bytes]) : bytes;
      start = Buffer.alloc(0);
    }
    yield Buffer.concat([start, Buffer.from(closing)]);
  } finally {
    onOps(ops);
  }
}

const newline = 0x0a;

/** Each op is on a line of its own. */
function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
