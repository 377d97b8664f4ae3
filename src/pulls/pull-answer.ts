/** The responses to pulls of sync clients. */
import type { JSONAnswer } from '../http/answer.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import { type PullRequest, unchangedText } from '../protocol/pull.js';
import { linesIn, type Patched, type Pulled } from './pulled.js';

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
  const isWhole = !more && held.reduce((sum, { length }) => sum + length, 0) <= wholeBytes;
  if (!isWhole) return { kind: 'json in pieces', pieces: pieces(pulled, onOps) };
  onOps(held.reduce((sum, bytes) => sum + countLines(bytes), 0));
  const start = startOf(pulled, held.length > 0);
  return { kind: 'json', text: `{${fieldsOf(pulled)},${start}${Buffer.concat(held).toString()}]}` };
}

function fieldsOf({ cookie, lastMutationIDChanges }: Patched): string {
  return `"cookie":${JSON.stringify(cookie)},"lastMutationIDChanges":${JSON.stringify(lastMutationIDChanges)}`;
}

/** Up to and including what precedes the first op that has been read. */
function startOf({ kind }: Patched, hasOps: boolean): string {
  return `"patch":[${kind === 'reset' ? `{"op":"clear"}${hasOps ? ',' : ''}` : ''}`;
}

/** What the ops belong to comes last: only then it is certain. */
async function* pieces(patched: Patched, onOps: (ops: number) => void): AsyncGenerator<Uint8Array> {
  let ops = 0;
  let hasBegun = false;
  const start = (hasOps: boolean) => Buffer.from(hasBegun ? '' : `{${startOf(patched, hasOps)}`);
  try {
    for await (const bytes of linesIn(patched)) {
      ops += countLines(bytes);
      yield hasBegun ? bytes : Buffer.concat([start(true), bytes]);
      hasBegun = true;
    }
    yield Buffer.concat([start(false), Buffer.from(`],${fieldsOf(patched.replacement?.() ?? patched)}}`)]);
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
