import { expect, it } from 'vitest';
import { fromPathSegment, toPathSegment } from './path-segment.js';

/** The characters that URLs or `toPathSegment` treat specially. */
const letters = [...'.~%2E/?'];

/** Returns all texts of at most this length. */
const textsUpTo = (length: number): string[] =>
  length === 0 ? [''] : ['', ...textsUpTo(length - 1).flatMap((text) => letters.map((letter) => text + letter))];

/** Returns the segments of a key after the URL has been parsed. */
const keySegments = (path: string) => new URL(`http://localhost/api/views/todo/${path}`).pathname.split('/').slice(4);

it('preserves every text in a URL', () => {
  for (const text of textsUpTo(4)) {
    const segments = keySegments(toPathSegment(text));
    expect([text, segments.length, fromPathSegment(segments[0]!)]).toEqual([text, 1, text]);
  }
});

it('encodes texts that need no tilde as other encoders do', () => {
  expect(['42', 'a/b', '~a', '...', '.a', 'a.'].map(toPathSegment)).toEqual(['42', 'a%2Fb', '~a', '...', '.a', 'a.']);
  expect(['', '.', '..', '~', '~..'].map(toPathSegment)).toEqual(['~', '~.', '~..', '~~', '~~..']);
  expect(fromPathSegment('%7E%2E')).toBe('.');
});

it('rejects segments that are invalid or that a URL would resolve', () => {
  expect(['', '.', '..', '%2E', '%', '%ff'].map(fromPathSegment)).toEqual(Array(6).fill(undefined));
});
