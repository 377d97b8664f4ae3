import type { Budget } from '../../limits/budget.js';
import type { JSONAnswer, Reply } from '../answer.js';
import type { Caller } from '../identify.js';
import { compress } from './compress.js';
import { readAhead } from './read-ahead.js';

/** The least length of an answer that is compressed, in UTF-16 units. */
const compressedLength = 1024;

/** How answers that may be long are sent. */
export interface Delivery {
  /** Whether they are compressed. */
  readonly compression: boolean;
  /** For what is read ahead for slow clients. */
  readonly spool: Budget;
}

/** Compresses an answer as its client accepts it, if that is worth it, and reads it ahead if the client is slow. */
export async function deliver(
  answer: JSONAnswer,
  { headers }: Request,
  caller: Caller,
  { compression, spool }: Delivery,
): Promise<JSONAnswer | Reply> {
  const isWorthIt = answer.kind === 'json in pieces' || answer.text.length >= compressedLength;
  const compressed = compression && isWorthIt ? await compress(answer, headers.get('Accept-Encoding')) : answer;
  if (compressed.kind !== 'json in pieces') return compressed;
  return { ...compressed, pieces: readAhead(compressed.pieces, caller, spool) };
}
