import { defineMutator, defineMutators } from '@rocicorp/zero';
import { type } from 'arktype';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SetupError } from '../errors.js';
import * as own from './mutators.js';
import { toMutators, type Validators } from './registry.js';

const zero = defineMutators({ a: { b: { c: defineMutator(async () => {}) } }, d: defineMutator(async () => {}) });

describe('a registry of Zero', () => {
  it('is flattened to its mutators', () => {
    expect([...toMutators(zero).keys()]).toEqual(['a.b.c', 'd']);
  });

  it('has mutators that get unvalidated args, and validate them themselves', async () => {
    const called = defineMutators({ d: defineMutator(z.number(), async ({ args }) => void calls.push(args)) });
    const calls: number[] = [];
    const mutator = toMutators(called).get('d')!;
    await mutator.run({ tx: { mutate: {} } as never, args: 5, ctx: { userID: 'ada' } });
    expect(calls).toEqual([5]);
    expect(mutator).toMatchObject({ validator: undefined, validates: true });
  });

  it('may extend another', () => {
    const extended = defineMutators(zero, { a: { x: defineMutator(async () => {}) } });
    expect([...toMutators(extended).keys()].sort()).toEqual(['a.b.c', 'a.x', 'd']);
  });

  it('accepts validators that are nested alike or have dotted names', () => {
    const string = z.string();
    expect(toMutators(zero, { a: { b: { c: string } } }).get('a.b.c')?.validator).toBe(string);
    expect(toMutators(zero, { 'a.b.c': string, d: string }).get('d')?.validator).toBe(string);
  });

  it('is rejected if it contains anything but mutators', () => {
    const run = async () => {};
    for (const f of [
      run,
      5,
      null,
      Object.assign(async () => {}, { mutatorName: 'f' }),
      Object.assign(async () => {}, { mutatorName: 5, fn: run }),
      Object.assign(async () => {}, { mutatorName: 'f', fn: 5 }),
      Object.assign(async () => {}, { fn: run }),
    ]) {
      const registry = Object.assign({}, zero, { e: { f } });
      expect(() => toMutators(registry)).toThrow(SetupError);
      expect(() => toMutators(registry)).toThrow('"f" is not a mutator from Zero');
    }
  });
});

describe('validators beside a registry', () => {
  const string = z.string();
  let registry: own.Mutators;
  beforeAll(() => {
    registry = own.defineMutators({
      bare: own.defineMutator(() => {}),
      checked: own.defineMutator(z.number(), () => {}),
    });
  });

  it('apply to mutators that have none', () => {
    const mutators = toMutators(registry, { bare: string });
    expect(mutators.get('bare')).toEqual({ ...registry.get('bare'), validator: string });
    expect(mutators.get('checked')).toBe(registry.get('checked'));
    const callable = type('string');
    expect(toMutators(registry, { bare: callable }).get('bare')?.validator).toBe(callable);
  });

  it.each<[name: string, validators: unknown, message: string]>([
    ['for a mutator that has its own', { checked: string }, '"checked" already has its own validator'],
    ['without a mutator', { missing: string }, 'the validator "missing" has no mutator.'],
    ['that are numbers', { bare: 5 }, 'the validator "bare" is not a Standard Schema validator'],
    ['that are null', { bare: null }, 'the validator "bare" is not a Standard Schema validator'],
    ['that are functions', { bare: () => {} }, 'the validator "bare" is not a Standard Schema validator'],
    [
      'with several errors',
      { checked: string, missing: string },
      '"checked" already has its own validator; the validator "missing"',
    ],
  ])('%s are rejected', (_, validators, message) => {
    expect(() => toMutators(registry, validators as Validators)).toThrow(SetupError);
    expect(() => toMutators(registry, validators as Validators)).toThrow(message);
  });
});
