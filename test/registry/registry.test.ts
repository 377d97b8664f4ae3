import { defineMutator, defineMutators } from '@rocicorp/zero';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SetupError } from '../../src/errors.js';
import * as own from '../../src/registry/mutators.js';
import { toMutators, type Validators } from '../../src/registry/registry.js';

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

describe('validators beside a registry', () => {
  const string = z.string();
  const registry = own.defineMutators({
    bare: own.defineMutator(() => {}),
    checked: own.defineMutator(z.number(), () => {}),
  });

  it('go with the mutators that have none', () => {
    const mutators = toMutators(registry, { bare: string });
    expect(mutators.get('bare')).toEqual({ ...registry.get('bare'), validator: string });
    expect(mutators.get('checked')).toBe(registry.get('checked'));
  });

  it.each<[name: string, validators: unknown, message: string]>([
    ['for a mutator that has one', { checked: string }, '"checked" has a validator of its own already'],
    ['for no mutator', { missing: string }, 'the validator "missing" has no mutator of that name'],
    ['that are none', { bare: 5 }, 'the validator "bare" is not a Standard Schema validator'],
    [
      'with several faults',
      { checked: string, missing: string },
      '"checked" has a validator of its own already; the validator "missing"',
    ],
  ])('%s are refused', (_, validators, message) => {
    expect(() => toMutators(registry, validators as Validators)).toThrow(SetupError);
    expect(() => toMutators(registry, validators as Validators)).toThrow(message);
  });
});
