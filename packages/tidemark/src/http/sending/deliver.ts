import type { Admission } from '../../limits/admission.js';
import type { JSONAnswer, Reply } from '../answer.js';
import type { Caller } from '../identify.js';
import { compress } from './compress.js';
import { readAhead } from './read-ahead.js';

/** The minimum length at which an answer is compressed, in UTF-16 units. */
const minCompressedLength = 1024;

/** The settings for sending answers that may be long. */
export interface Delivery {
  /** True if answers are compressed. */
  readonly compression: boolean;
  readonly admission: Admission;
}

/** Compresses an answer if the client accepts that and it is worthwhile. Reads ahead if the client is slow. */
export async function deliver(
  answer: JSONAnswer,
  { headers }: Request,
  caller: Caller,
  { compression, admission }: Delivery,
): Promise<JSONAnswer | Reply> {
  const isWorthIt = answer.kind === 'json in pieces' || answer.text.length >= minCompressedLength;
  const compressed = compression && isWorthIt ? await compress(answer, headers.get('Accept-Encoding')) : answer;
  if (compressed.kind !== 'json in pieces') return compressed;
  return { ...compressed, pieces: readAhead(compressed.pieces, caller, admission.spool) };
}
