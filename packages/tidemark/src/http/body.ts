import { Problem } from '../errors.js';
import type { Reservation } from '../limits/budget.js';
import { isForeign } from '../protocol/origin.js';
import { type ParseOptions, parse } from './parse.js';

const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;

/** The limits for reading a body. */
export interface Intake {
  /** The maximum size of the body, in bytes. */
  readonly limit: number;
  /** Reserves the body's bytes in a memory budget. Default: no budget applies. */
  readonly reservation?: Reservation | undefined;
}

/** The body of a JSON request. */
export interface JSONBody {
  readonly bytes: Uint8Array;
  /** Undefined if the body is empty, which only `readOptionalJSON` accepts. */
  readonly value: unknown;
}

/**
 * Reads and parses a JSON body.
 * @throws Problem `unsupported-media-type`, `body-too-large`, or `malformed-request` if the body breaks off or is not
 * JSON; and whatever the reservation throws.
 */
export async function readJSON(request: Request, intake: Intake, options?: ParseOptions): Promise<JSONBody> {
  const bytes = await readBytes(request, intake);
  return { bytes, value: await parse(bytes, options) };
}

/**
 * Reads a JSON body without parsing it.
 * @throws like `readJSON`, except for bytes that are not JSON
 */
export async function readBytes(request: Request, intake: Intake): Promise<Uint8Array> {
  requireJSON(request.headers);
  return read(request, intake);
}

/**
 * Reads and parses a JSON body that may be missing. The content type may then be missing too, unless a page of another
 * origin sent the request.
 * @throws like `readJSON`
 */
export async function readOptionalJSON(request: Request, intake: Intake, options?: ParseOptions): Promise<JSONBody> {
  const { headers } = request;
  const hasType = headers.has('Content-Type');
  // Browsers send no CORS preflight before a cross-site request that has no content type.
  if (hasType || isForeign(request)) requireJSON(headers);
  const bytes = await read(request, intake);
  if (bytes.byteLength === 0) return { bytes, value: undefined };
  if (!hasType) requireJSON(headers);
  return { bytes, value: await parse(bytes, options) };
}

function requireJSON(headers: Headers): void {
  if (!jsonType.test(headers.get('Content-Type')?.trim() ?? '')) {
    throw new Problem('unsupported-media-type', 'The content type must be application/json, in UTF-8');
  }
}

async function read(request: Request, { limit, reservation }: Intake): Promise<Uint8Array> {
  const { headers } = request;
  if ((headers.get('Content-Encoding') ?? 'identity').trim().toLowerCase() !== 'identity') {
    throw new Problem('unsupported-media-type', 'The body must not be compressed');
  }
  const declared = headers.get('Content-Length');
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
  try {
    // The HTTP server enforces a declared length. Only a chunked body can be endless.
    if (declared === null) return await readStream(request, { limit, reservation });
    reservation?.take(Number(declared));
    return await readAtOnce(request, limit);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('malformed-request', 'The body was cut off', { cause: error });
  }
}

async function readAtOnce(request: Request, limit: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > limit) throw tooLarge(limit);
  return bytes;
}

async function readStream(request: Request, { limit, reservation }: Intake): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > limit) throw tooLarge(limit);
    reservation?.take(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooLarge(limit: number): Problem {
  return new Problem('body-too-large', `The body must not be larger than ${limit} bytes`);
}
