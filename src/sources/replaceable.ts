import { isTransient } from '../db/sqlstate.js';
import { linesIn, type Patched } from '../pulls/pulled.js';

/**
 * What a standby answers at length, with another answer in the place of it if the standby fails before the end: what the
 * client has been sent by then is cleared.
 * @param instead asks for all data elsewhere
 */
export function replaceable(patched: Patched, instead: () => Promise<Patched>): Patched {
  const { more } = patched;
  if (!more) return patched;
  let replacement: Patched | undefined;
  const ops = lines(patched, async () => {
    replacement = await instead();
    return replacement;
  });
  const close = async () => {
    await more.close();
    await replacement?.more?.close();
  };
  return { ...patched, held: [], more: { ...more, ops, close }, replacement: () => replacement };
}

async function* lines(patched: Patched, instead: () => Promise<Patched>): AsyncGenerator<Uint8Array, undefined> {
  let hasBegun = false;
  try {
    for await (const bytes of wholeLines(linesIn(patched))) {
      yield bytes;
      hasBegun = true;
    }
    return undefined;
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
  yield Buffer.from(`${hasBegun ? ',' : ''}{"op":"clear"}\n`);
  let comma = ',';
  for await (const bytes of linesIn(await instead())) {
    yield Buffer.concat([Buffer.from(comma), bytes]);
    comma = '';
  }
  return undefined;
}

const newline = 0x0a;

/** The same, but each piece ends with a line, so that none is left in the middle. */
async function* wholeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array[] = [];
  for await (const bytes of pieces) {
    const end = bytes.lastIndexOf(newline) + 1;
    if (end > 0) {
      yield Buffer.concat([...begun, bytes.subarray(0, end)]);
      begun = [];
    }
    begun.push(bytes.subarray(end));
  }
  const rest = Buffer.concat(begun);
  if (rest.length > 0) yield rest;
}
