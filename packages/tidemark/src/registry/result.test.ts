import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InvalidArgsError } from './prepare.js';
import { encodeResult, UnexpectedResultError } from './result.js';

class Answer {
  readonly rows = ['secret'];
}

describe('a result without a schema', () => {
  it.each([
    [null, 'null'], [0, '0'], ['', '""'], [false, 'false'], [[1, { a: 2 }], '[1,{"a":2}]'], [{ a: undefined }, '{}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'], [Object.create(null), '{}'],
  ])('of %j is encoded as %s', async (result, text) => {
    expect(await encodeResult({}, result)).toBe(text);
  }); // biome-ignore format: a row of values

  it.each([[undefined], [new Answer()], [new Map([['a', 1]])], [() => 1], [Symbol('s')]])(
    'of %s is not encoded',
    async (result) => {
      expect(await encodeResult({}, result)).toBeUndefined();
    },
  );

  it('that JSON cannot represent is an error', async () => {
    await expect(encodeResult({}, { n: 1n })).rejects.toThrow(TypeError);
  });
});

describe('a result with a schema', () => {
  const result = z.object({ id: z.string(), at: z.date().transform((date) => date.getTime()) });

  it('is encoded as its schema transforms it', async () => {
    const row = Object.assign(new Answer(), { id: 'a', at: new Date(5) });
    expect(await encodeResult({ result }, row)).toBe('{"id":"a","at":5}');
    expect(await encodeResult({ result: z.undefined() }, undefined)).toBeUndefined();
  });

  it('is an error of the mutator if its schema rejects it', async () => {
    const refused = encodeResult({ result }, { id: 7 });
    await expect(refused).rejects.toThrow(UnexpectedResultError);
    await expect(refused).rejects.toMatchObject({
      name: 'UnexpectedResultError',
      message: 'the result does not match its schema',
      cause: expect.any(InvalidArgsError),
    });
  });

  it('fails with the error of its schema', async () => {
    const failing = z.string().transform(() => {
      throw new RangeError('of its own');
    });
    await expect(encodeResult({ result: failing }, 'a')).rejects.toThrow(RangeError);
  });
});
