import { Problem } from '../errors.js';
import { findInexactNumber } from '../protocol/json.js';

/** The largest request bodies, in bytes. */
export interface BodyLimits {
  /** Of a pull. Default 1 MiB. */
  readonly pull: number;
  /** Of a push. Default 16 MiB: one push carries every mutation that is still pending. */
  readonly push: number;
  /** Of a REST call or a batch. Default 1 MiB. */
  readonly call: number;
}

/** The largest request bodies, in bytes; each is optional. */
export type BodyLimitOptions = { readonly [Kind in keyof BodyLimits]?: BodyLimits[Kind] | undefined };

const MiB = 1024 * 1024;

/** Completes the limits with the defaults. */
export function bodyLimits({ pull = MiB, push = 16 * MiB, call = MiB }: BodyLimitOptions = {}): BodyLimits {
  return { pull, push, call };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;

/** How a body is parsed. */
export interface ParseOptions {
  /** Refuses numbers that a double cannot represent, instead of changing them silently. Default false. */
  readonly exactNumbers?: boolean | undefined;
}

/** The body of a JSON request. */
export interface JSONBody {
  readonly bytes: Uint8Array;
  /** Undefined if the body is empty, where it may be. */
  readonly value: unknown;
}

/**
 * Reads and parses a JSON body.
 * @param limit the largest body, in bytes
 * @throws Problem `unsupported-media-type`, `body-too-large`, or `malformed-request` if the body breaks off or is not
 * JSON.
 */
export async function readJSON(request: Request, limit: number, options?: ParseOptions): Promise<JSONBody> {
  requireJSON(request.headers);
  const bytes = await readBytes(request, limit);
  return { bytes, value: parseJSON(decodeText(bytes), options) };
}

/**
 * Reads a JSON body without parsing it.
 * @param limit the largest body, in bytes
 * @throws as `readJSON`, but for text that is not JSON
 */
export async function readText(request: Request, limit: number): Promise<string> {
  requireJSON(request.headers);
  return decodeText(await readBytes(request, limit));
}

/**
 * Like `readJSON`, but the body may be missing; the content type may then be missing too.
 * @throws as `readJSON`
 */
export async function readOptionalJSON(request: Request, limit: number, options?: ParseOptions): Promise<JSONBody> {
  const { headers } = request;
  const hasType = headers.has('Content-Type');
  // Without a content type, a browser sends another site's request without a CORS preflight.
  if (hasType || !['none', 'same-origin', null].includes(headers.get('Sec-Fetch-Site'))) requireJSON(headers);
  const bytes = await readBytes(request, limit);
  if (bytes.byteLength === 0) return { bytes, value: undefined };
  if (!hasType) requireJSON(headers);
  return { bytes, value: parseJSON(decodeText(bytes), options) };
}

function requireJSON(headers: Headers): void {
  if (!jsonType.test(headers.get('Content-Type')?.trim() ?? '')) {
    throw new Problem('unsupported-media-type', 'The content type must be application/json, in UTF-8');
  }
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const { headers } = request;
  if ((headers.get('Content-Encoding') ?? 'identity').trim().toLowerCase() !== 'identity') {
    throw new Problem('unsupported-media-type', 'The body must not be compressed');
  }
  const declared = headers.get('Content-Length');
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
  try {
    // The HTTP server enforces a declared length; only a chunked body can go on forever.
    return declared === null ? await readStream(request, limit) : await readAtOnce(request, limit);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('malformed-request', 'The body was cut off', { cause: error });
  }
}

/**
 * Decodes UTF-8, the encoding of all JSON.
 * @throws Problem `malformed-request`
 */
function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Problem('malformed-request', 'The body is not valid UTF-8');
  }
}

/**
 * Parses a body. Errors never repeat the text.
 * @throws Problem `malformed-request`
 */
export function parseJSON(text: string, { exactNumbers = false }: ParseOptions = {}): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Problem('malformed-request', 'The body is not valid JSON');
  }
  const offset = exactNumbers ? findInexactNumber(text) : undefined;
  if (offset !== undefined) {
    throw new Problem(
      'malformed-request',
      `The number at offset ${offset} has digits that a double cannot hold; send it as a string`,
    );
  }
  return value;
}

async function readAtOnce(request: Request, limit: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > limit) throw tooLarge(limit);
  return bytes;
}

async function readStream(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function tooLarge(limit: number): Problem {
  return new Problem('body-too-large', `The body must not be larger than ${limit} bytes`);
}
