import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toIssues } from './issues.js';
import { InvalidArgsError } from './prepare.js';

const messageOf = (message: string, args: unknown) => toIssues([{ message }], args)[0]!.message;

describe('a message that quotes args', () => {
  it.each([
    ['Unrecognized key: "a-b"', { 'a-b': 1 }, 'Unrecognized key: "…"'],
    ['Not (a+b)* nor [^x]$ \\d', ['(a+b)*', '[^x]$', '\\d'], 'Not … nor … …'],
    ['Say "x y", not "x"', ['x', 'x y'], 'Say "…", not "…"'],
    ['12 is not 2', 2, '12 is not …'],
    ['a banana is no a', 'a', '… banana is no …'],
    ['𝒳a é!é', ['a', 'é'], '𝒳a …!…'],
    ['nothing of it', 'else', 'nothing of it'],
    ['"" is too short', '', '"" is too short'],
    ['item 0 of 2 is null, not b', ['b', null], 'item 0 of 2 is null, not …'],
  ])('is returned without the quotes: %s', (message, args, expected) => {
    expect(messageOf(message, args)).toBe(expected);
  });

  it('is replaced if the search for quotes would take long', () => {
    const args = Array.from({ length: 500 }, (_, i) => `part-${i}`);
    expect(messageOf('x'.repeat(2_000), args)).toBe('x'.repeat(2_000));
    expect(messageOf('x'.repeat(2_001), args)).toBe('Invalid value');
  });

  it('is returned without the quotes and without delay, however many they are', () => {
    const args = Array.from({ length: 100 }, (_, j) =>
      Object.fromEntries(Array.from({ length: 990 }, (_, i) => [`secret-${i}-${j}`, 0])),
    );
    const { issues = [] } = z.array(z.strictObject({})).safeParse(args).error ?? {};
    const callIssues = toIssues(issues as Parameters<typeof toIssues>[0], args);
    expect(JSON.stringify(callIssues)).not.toContain('secret');
  });
});

describe('issues below a key as long as a body', () => {
  const key = 'k'.repeat(500_000);
  const issues = Array.from({ length: 100_000 }, (_, i) => ({ path: [key, i], message: 'Invalid' }));

  it('are returned once', () => {
    expect(toIssues(issues, {})).toEqual([{ path: [key, 0], message: 'Invalid' }]);
  });

  it('are listed only a few times in a message', () => {
    expect(new InvalidArgsError(issues).message.length).toBeLessThan(20 * key.length);
  });
});
