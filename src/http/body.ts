import { Problem } from '../errors.js';

/** The largest request bodies, in bytes. */
export interface BodyLimits {
  /** Default 1 MiB. */
  readonly pull: number;
  /** Default 16 MiB: one push carries every mutation that is still pending. */
  readonly push: number;
  /** Of a REST call or a batch. Default 1 MiB. */
  readonly call: number;
}

export type BodyLimitOptions = { readonly [Kind in keyof BodyLimits]?: BodyLimits[Kind] | undefined };

const MiB = 1024 * 1024;

export function bodyLimits({ pull = MiB, push = 16 * MiB, call = MiB }: BodyLimitOptions = {}): BodyLimits {
  return { pull, push, call };
}

const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;

/**
 * Reads a JSON request's body, without decoding it.
 * @throws Problem `unsupported-media-type`, `body-too-large`, or `malformed-request` when the body breaks off.
 */
export async function readBody(request: Request, limit: number): Promise<Uint8Array> {
  requireJSON(request.headers);
  return readBytes(request, limit);
}

/**
 * As `readBody`, but what has no content type may have no body: it is empty then.
 * @throws as `readBody`
 */
export async function readOptionalBody(request: Request, limit: number): Promise<Uint8Array> {
  const { headers } = request;
  if (headers.has('Content-Type')) return readBody(request, limit);
  // Without a content type, a browser sends another site's request without asking whether it may.
  if (!['none', 'same-origin', null].includes(headers.get('Sec-Fetch-Site'))) requireJSON(headers);
  const bytes = await readBytes(request, limit);
  if (bytes.byteLength > 0) requireJSON(headers);
  return bytes;
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
    // A length that is declared is enforced by the HTTP server; only a chunked body can go on for ever.
    return declared === null ? await readStream(request, limit) : await readAtOnce(request, limit);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('malformed-request', 'The body broke off', { cause: error });
  }
}

/**
 * Decodes UTF-8, which JSON is always in.
 * @throws Problem `malformed-request`
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Problem('malformed-request', 'The body is not valid UTF-8');
  }
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
