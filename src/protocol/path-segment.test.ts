import { expect, it } from 'vitest';
import { fromPathSegment, toPathSegment } from './path-segment.js';

/** The characters that URLs, or the rule itself, treat specially. */
const letters = [...'.~%2E/?'];

/** All texts of at most this length. */
const textsUpTo = (length: number): string[] =>
  length === 0 ? [''] : ['', ...textsUpTo(length - 1).flatMap((text) => letters.map((letter) => text + letter))];

/** The segments of a key, after the URL has been parsed. */
const keySegments = (path: string) => new URL(`http://localhost/api/views/todo/${path}`).pathname.split('/').slice(4);

it('carries every text through a URL', () => {
  for (const text of textsUpTo(4)) {
    const segments = keySegments(toPathSegment(text));
    expect([text, segments.length, fromPathSegment(segments[0]!)]).toEqual([text, 1, text]);
  }
});

it('leaves texts that need no tilde as other encoders write them', () => {
  expect(['42', 'a/b', '~a', '...', '.a', 'a.'].map(toPathSegment)).toEqual(['42', 'a%2Fb', '~a', '...', '.a', 'a.']);
  expect(['', '.', '..', '~', '~..'].map(toPathSegment)).toEqual(['~', '~.', '~..', '~~', '~~..']);
  expect(fromPathSegment('%7E%2E')).toBe('.');
});

it('reads no text from what cannot be decoded, or is left of another path', () => {
  expect(['', '.', '..', '%2E', '%', '%ff'].map(fromPathSegment)).toEqual(Array(6).fill(undefined));
});
