import { defineMutator, defineMutators } from '@rocicorp/zero';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SetupError } from '../../src/errors.js';
import { toMutators } from '../../src/registry/registry.js';

const zero = defineMutators({ a: { b: { c: defineMutator(async () => {}) } }, d: defineMutator(async () => {}) });

describe('a registry of Zero', () => {
  it('is flattened to its mutators', () => {
    expect([...toMutators(zero).keys()]).toEqual(['a.b.c', 'd']);
  });

  it('may extend another', () => {
    const extended = defineMutators(zero, { a: { x: defineMutator(async () => {}) } });
    expect([...toMutators(extended).keys()].sort()).toEqual(['a.b.c', 'a.x', 'd']);
  });

  it('takes validators nested as it is, or under dot names', () => {
    const string = z.string();
    expect(toMutators(zero, { a: { b: { c: string } } }).get('a.b.c')?.validator).toBe(string);
    expect(toMutators(zero, { 'a.b.c': string, d: string }).get('d')?.validator).toBe(string);
  });

  it('that has something else in it is refused', () => {
    for (const f of [async () => {}, 5]) {
      const registry = Object.assign({}, zero, { e: { f } });
      expect(() => toMutators(registry)).toThrow(SetupError);
      expect(() => toMutators(registry)).toThrow('"f" is no mutator of Zero');
    }
  });
});
