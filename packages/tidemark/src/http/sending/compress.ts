/** Compresses answers in Node's thread pool, with an encoding that the client accepts. */
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { JSONAnswer, Reply } from '../answer.js';

/** An encoding, by its name in `Accept-Encoding` and `Content-Encoding`. */
type Encoding = 'zstd' | 'br' | 'gzip';

interface ZstdOptions {
  readonly chunkSize: number;
  readonly params: Readonly<Record<number, number>>;
}

/** Functions of `node:zlib` since Node 22.15. */
interface Zstd {
  readonly zstdCompress: (
    text: string,
    options: ZstdOptions,
    callback: (error: Error | null, result: Buffer<ArrayBuffer>) => void,
  ) => void;
  readonly createZstdCompress: (options: ZstdOptions) => Transform;
}

const { zstdCompress, createZstdCompress } = zlib as Partial<Zstd>;
/** The parameter `ZSTD_c_compressionLevel`. */
const zstdLevel = 100;
/** Larger chunks of output need fewer round trips to the thread pool. */
const chunkSize = 64 * 1024;
/**
 * Low levels: higher ones take more time than most networks take for the bytes saved. At levels 0 and 1, Brotli
 * compresses each piece separately, and small pieces not at all. At level 2, a window larger than 256 KB takes longer
 * and saves nothing. At level 3, the default of Zstandard, answers take longer and even become larger.
 */
const zstdOptions = { chunkSize, params: { [zstdLevel]: 1 } };
const brotliOptions = {
  chunkSize,
  params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2, [zlib.constants.BROTLI_PARAM_LGWIN]: 18 },
};
const gzipOptions = { chunkSize, level: 1 };
const zstd = zstdCompress && promisify(zstdCompress);
const brotli = promisify<string, zlib.BrotliOptions, Buffer<ArrayBuffer>>(zlib.brotliCompress);
const gzip = promisify<string, zlib.ZlibOptions, Buffer<ArrayBuffer>>(zlib.gzip);

/** The encodings that this version of Node supports, in order of preference. */
const encodings: readonly Encoding[] = zstd && createZstdCompress ? ['zstd', 'br', 'gzip'] : ['br', 'gzip'];

/**
 * Compresses an answer, unless the client accepts no encoding.
 * @param acceptEncoding the request's `Accept-Encoding`
 */
export async function compress(answer: JSONAnswer, acceptEncoding: string | null): Promise<JSONAnswer | Reply> {
  const encoding = preferred(acceptEncoding);
  const headers = { Vary: 'Accept-Encoding', ...(encoding && { 'Content-Encoding': encoding }) };
  if (answer.kind === 'json') {
    const body = encoding ? await compressText(answer.text, encoding) : answer.text;
    return { kind: 'reply', headers, body };
  }
  return { ...answer, headers, pieces: encoding ? compressed(answer.pieces, encoding) : answer.pieces };
}

/** Returns the encoding that the client prefers; of several, the best. */
function preferred(acceptEncoding: string | null): Encoding | undefined {
  const weights = weightsOf(acceptEncoding ?? '');
  const weightOf = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0;
  const [best] = encodings.filter((one) => weightOf(one) > 0).toSorted((a, b) => weightOf(b) - weightOf(a));
  return best;
}

/** Parses `Accept-Encoding` (RFC 9110, section 12.5.3). */
function weightsOf(header: string): Map<string, number> {
  const items = header.split(',').map((item) =>
    item
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q\s*=\s*/),
  );
  return new Map(items.map(([name = '', weight = '1']) => [name, Number(weight) || 0]));
}

function compressText(text: string, encoding: Encoding): Promise<Uint8Array<ArrayBuffer>> {
  if (encoding === 'zstd') return zstd!(text, zstdOptions);
  return encoding === 'br' ? brotli(text, brotliOptions) : gzip(text, gzipOptions);
}

function createStream(encoding: Encoding): Transform {
  if (encoding === 'zstd') return createZstdCompress!(zstdOptions);
  return encoding === 'br' ? zlib.createBrotliCompress(brotliOptions) : zlib.createGzip(gzipOptions);
}

async function* compressed(pieces: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<Uint8Array> {
  const stream = createStream(encoding);
  // The stream itself reports failures too.
  pipeline(pieces, stream).catch(() => {});
  yield* stream;
}
