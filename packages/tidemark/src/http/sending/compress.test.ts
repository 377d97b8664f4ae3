import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { Answer, JSONAnswer } from '../answer.js';
import { compress } from './compress.js';

type Decompress = (bytes: Uint8Array) => Promise<Buffer>;

const { zstdDecompress } = zlib as { zstdDecompress?: typeof zlib.brotliDecompress };
/** The decompressors of all encodings in this version of Node. */
const decompress: Readonly<Record<string, Decompress>> = {
  ...(zstdDecompress && { zstd: promisify(zstdDecompress) as Decompress }),
  br: promisify(zlib.brotliDecompress) as Decompress,
  gzip: promisify(zlib.gunzip) as Decompress,
};
const names = Object.keys(decompress);

const long = JSON.stringify({ text: 'a text that repeats itself, '.repeat(100) });
const text = (value: string): JSONAnswer => ({ kind: 'json', text: value });
const pieces = (source: AsyncIterable<Uint8Array>): JSONAnswer => ({ kind: 'json in pieces', pieces: source });

async function* parts(...values: readonly (string | Error)[]) {
  for (const value of values) {
    if (value instanceof Error) throw value;
    yield Buffer.from(value);
  }
}

function headersOf(answer: Answer): Readonly<Record<string, string>> | undefined {
  return 'headers' in answer ? answer.headers : undefined;
}

function piecesOf(answer: Answer): AsyncIterable<Uint8Array> {
  if (answer.kind !== 'json in pieces') throw new Error(`It is ${answer.kind}`);
  return answer.pieces;
}

async function bytesOf(answer: Answer): Promise<Buffer> {
  return answer.kind === 'reply' ? Buffer.from(answer.body as Uint8Array) : buffer(piecesOf(answer));
}

describe.each(names)('compression with %s', (name) => {
  const expected = { Vary: 'Accept-Encoding', 'Content-Encoding': name };

  it('preserves a long text in fewer bytes', async () => {
    const answer = await compress(text(long), name);
    expect(headersOf(answer)).toEqual(expected);
    const bytes = await bytesOf(answer);
    expect(bytes.length).toBeLessThan(long.length / 8);
    expect(String(await decompress[name]!(bytes))).toBe(long);
  });

  it('preserves pieces in fewer bytes', async () => {
    const values = Array.from(
      { length: 2000 },
      (_, i) => `{"op":"put","key":"todo/${i}","value":{"title":"Todo ${i}"}}`,
    );
    const answer = await compress(pieces(parts(...values)), name);
    expect(headersOf(answer)).toEqual(expected);
    const bytes = await bytesOf(answer);
    expect(bytes.length).toBeLessThan(values.join('').length / 4);
    expect(String(await decompress[name]!(bytes))).toBe(values.join(''));
  });

  it('fails if the pieces fail', async () => {
    const failure = new Error('broken off');
    const late = await compress(pieces(parts(long, failure)), name);
    await expect(bytesOf(late)).rejects.toBe(failure);
    const early = await compress(pieces(parts(failure)), name);
    await expect(bytesOf(early)).rejects.toBe(failure);
  });

  it('reads pieces on demand, and closes them when the reader stops', async () => {
    let read = 0;
    const onEnd = vi.fn();
    async function* endless() {
      try {
        for (; ; read++) yield Buffer.from(Array.from({ length: 1000 }, () => Math.random()).join());
      } finally {
        onEnd();
      }
    }
    const iterator = piecesOf(await compress(pieces(endless()), name))[Symbol.asyncIterator]();
    await iterator.next();
    const readAtFirst = read;
    await new Promise((resolve) => setTimeout(resolve, 50));
    // The streams themselves buffer some pieces.
    expect(read - readAtFirst).toBeLessThan(100);
    expect(onEnd).not.toHaveBeenCalled();
    await iterator.return?.();
    await vi.waitFor(() => expect(onEnd).toHaveBeenCalledOnce());
  });
});

describe('the encoding', () => {
  it.each([
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br; q=0.8 , gzip ; q=0.5', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['*;q=0.1, br;q=0, zstd;q=0', 'gzip'],
    ['deflate, gzip;q=1.0, *;q=0.5', 'gzip'],
    ['identity', undefined],
    ['', undefined],
    ['*;q=0', undefined],
    ['br;q=nonsense', undefined],
    [null, undefined],
  ])('for Accept-Encoding %j is %s', async (acceptEncoding, name) => {
    const answer = await compress(text(long), acceptEncoding);
    expect(headersOf(answer)).toEqual({ Vary: 'Accept-Encoding', ...(name && { 'Content-Encoding': name }) });
    if (!name) expect(answer).toMatchObject({ body: long });
  });

  it('for any encoding is the best that Node supports', async () => {
    expect(headersOf(await compress(text(long), '*'))).toMatchObject({ 'Content-Encoding': names[0] });
  });
});
