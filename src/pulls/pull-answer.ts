/** The responses to pulls of sync clients. */
import type { JSONAnswer } from '../http/answer.js';
import type { Caller } from '../http/identify.js';
import type { ProtocolError } from '../protocol/protocol-error.js';
import { type PullRequest, unchangedText } from '../protocol/pull.js';
import { linesIn, type PatchResult, type PullResult } from './pull-result.js';

/** Up to this size, in bytes, sending a body as one string is cheaper. Longer bodies share the bytes of their ops. */
const wholeBytes = 16 * 1024;

/** Annotates the caller's request with the number of ops once they have been sent. */
export function toAnswer(
  { cookie }: Pick<PullRequest, 'cookie'>,
  result: PullResult,
  caller: Caller,
): ProtocolError | JSONAnswer {
  if (result.kind === 'unchanged') return { kind: 'json', text: result.verifiedCookie.unchanged };
  if (result.kind === 'behind') return { kind: 'json', text: unchangedText(cookie) };
  if (result.kind === 'lost') return { error: 'ClientStateNotFound' };
  const { firstChunks, more } = result;
  const isWhole = !more && firstChunks.reduce((sum, { length }) => sum + length, 0) <= wholeBytes;
  if (!isWhole) return { kind: 'json in pieces', pieces: pieces(result, caller) };
  caller.annotate?.({ ops: firstChunks.reduce((sum, bytes) => sum + countLines(bytes), 0) });
  const start = startOf(result, firstChunks.length > 0);
  return { kind: 'json', text: `{${fieldsOf(result)},${start}${Buffer.concat(firstChunks).toString()}]}` };
}

function fieldsOf({ cookie, lastMutationIDChanges }: PatchResult): string {
  return `"cookie":${JSON.stringify(cookie)},"lastMutationIDChanges":${JSON.stringify(lastMutationIDChanges)}`;
}

/** Returns the start of the patch, up to the first op that was read. */
function startOf({ kind }: PatchResult, hasOps: boolean): string {
  return `"patch":[${kind === 'reset' ? `{"op":"clear"}${hasOps ? ',' : ''}` : ''}`;
}

/** Yields the ops first, because the patch that they belong to is certain only after the last of them. */
async function* pieces(patchResult: PatchResult, caller: Caller): AsyncGenerator<Uint8Array> {
  let ops = 0;
  let hasBegun = false;
  const start = (hasOps: boolean) => Buffer.from(hasBegun ? '' : `{${startOf(patchResult, hasOps)}`);
  try {
    for await (const bytes of linesIn(patchResult)) {
      ops += countLines(bytes);
      yield hasBegun ? bytes : Buffer.concat([start(true), bytes]);
      hasBegun = true;
    }
    yield Buffer.concat([start(false), Buffer.from(`],${fieldsOf(patchResult.replacement?.() ?? patchResult)}}`)]);
  } finally {
    caller.annotate?.({ ops });
  }
}

const newline = 0x0a;

/** Counts the ops, each of which is on a line of its own. */
function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
