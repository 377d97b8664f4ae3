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
])('%s is run with what its validator makes of %j', async (name, args, made) => {
  const known = mutators();
  expect(await prepare(known, name, args)).toEqual({ mutator: known.get(name), args: made });
});

it('a mutator that validates for itself is run with what came', async () => {
  const known: Mutators = new Map([['own', { validator: trim, run, validates: true }]]);
  expect((await prepare(known, 'own', ' a ')).args).toBe(' a ');
  await expect(prepare(known, 'own', 5)).rejects.toThrow(InvalidArgsError);
});

it.each(['note', 'add', '__proto__', ''])('%j is nobody', async (name) => {
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
