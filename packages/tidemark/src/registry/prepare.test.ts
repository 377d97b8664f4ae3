import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineMutator, defineMutators, type Mutators } from './mutators.js';
import { InvalidArgsError, prepare, UnknownMutatorError } from './prepare.js';

const run = () => {};
const trim = z.string().transform((text) => text.trim());
const mutators = (): Mutators => defineMutators({ bare: defineMutator(run), note: { add: defineMutator(trim, run) } });

it.each([
  ['bare', [' a '], [' a ']],
  ['bare', undefined, undefined],
  ['note.add', ' a ', 'a'],
])('the mutator %s gets %j as its validator transforms it', async (name, args, transformed) => {
  const registry = mutators();
  expect(await prepare(registry, name, args)).toEqual({ mutator: registry.get(name), args: transformed });
});

it('a mutator that validates its own args gets them unchanged', async () => {
  const registry: Mutators = new Map([['own', { validator: trim, run, validates: true }]]);
  expect((await prepare(registry, 'own', ' a ')).args).toBe(' a ');
  await expect(prepare(registry, 'own', 5)).rejects.toThrow(InvalidArgsError);
});

it.each(['note', 'add', '__proto__', ''])('%j is not the name of a mutator', async (name) => {
  const refused = prepare(mutators(), name, undefined);
  await expect(refused).rejects.toThrow(UnknownMutatorError);
  await expect(refused).rejects.toMatchObject({ name: 'UnknownMutatorError', message: 'no mutator has this name' });
});

it('args that cannot be stored are refused, with or without a validator', async () => {
  for (const name of ['bare', 'note.add']) {
    const refused = prepare(mutators(), name, '\ud800');
    await expect(refused).rejects.toThrow(InvalidArgsError);
    await expect(refused).rejects.toMatchObject({
      name: 'InvalidArgsError',
      message: 'args: a string in the args contains a lone surrogate',
    });
  }
});
