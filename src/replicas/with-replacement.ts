import { isTransient } from '../db/sqlstate.js';
import { linesIn, type PatchResult } from '../pulls/pull-result.js';

/**
 * Returns a standby's patch that continues with a replacement if the standby fails before the end. A `clear` op
 * discards what the client has received by then.
 * @param readReplacement reads all data from another database
 */
export function withReplacement(patchResult: PatchResult, readReplacement: () => Promise<PatchResult>): PatchResult {
  const { more } = patchResult;
  if (!more) return patchResult;
  let replacement: PatchResult | undefined;
  const ops = lines(patchResult, async () => {
    replacement = await readReplacement();
    return replacement;
  });
  const close = async () => {
    await more.close();
    await replacement?.more?.close();
  };
  return { ...patchResult, firstChunks: [], more: { ...more, ops, close }, replacement: () => replacement };
}

async function* lines(
  patchResult: PatchResult,
  readReplacement: () => Promise<PatchResult>,
): AsyncGenerator<Uint8Array, undefined> {
  let hasBegun = false;
  try {
    for await (const bytes of wholeLines(linesIn(patchResult))) {
      yield bytes;
      hasBegun = true;
    }
    return undefined;
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
  yield Buffer.from(`${hasBegun ? ',' : ''}{"op":"clear"}\n`);
  let comma = ',';
  for await (const bytes of linesIn(await readReplacement())) {
    yield Buffer.concat([Buffer.from(comma), bytes]);
    comma = '';
  }
  return undefined;
}

const newline = 0x0a;

/** Yields the same bytes in chunks that end with a line break, so that no line is left incomplete. */
async function* wholeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let partial: Uint8Array[] = [];
  for await (const bytes of pieces) {
    const end = bytes.lastIndexOf(newline) + 1;
    if (end > 0) {
      yield Buffer.concat([...partial, bytes.subarray(0, end)]);
      partial = [];
    }
    partial.push(bytes.subarray(end));
  }
  const rest = Buffer.concat(partial);
  if (rest.length > 0) yield rest;
}
