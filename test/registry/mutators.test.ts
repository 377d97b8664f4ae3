import type { ClientBase } from 'pg';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { SetupError } from '../../src/errors.js';
import {
  defineMutator,
  defineMutators,
  type Mutators,
  type MutatorTree,
  mutatorFor,
  type UserContext,
} from '../../src/registry/mutators.js';
import { InvalidArgsError, validate } from '../../src/registry/validate.js';

interface AppContext extends UserContext {
  readonly roles: readonly string[];
}

interface AppTransaction {
  insert(row: object): Promise<void>;
}

describe('types', () => {
  test('args come from the validator, ctx and tx from the application', () => {
    const define = mutatorFor<AppContext, AppTransaction>();
    const create = define(
      z.object({ id: z.string(), n: z.coerce.number() }),
      async ({ tx, args, ctx }) => {
        expectTypeOf(args).toEqualTypeOf<{ id: string; n: number }>();
        expectTypeOf(tx).toEqualTypeOf<AppTransaction>();
        expectTypeOf(ctx).toEqualTypeOf<AppContext>();
        await tx.insert(args);
      },
      { summary: 'Creates a list' },
    );
    const mutators = defineMutators({ list: { create } });
    expectTypeOf(mutators).toEqualTypeOf<Mutators<AppTransaction, AppContext>>();
    expect(mutators.get('list.create')?.summary).toBe('Creates a list');
  });

  test('without a validator args are unknown; by default tx is a pg client', () => {
    const remove = defineMutator(({ tx, args, ctx }) => {
      expectTypeOf(args).toBeUnknown();
      expectTypeOf(tx).toEqualTypeOf<ClientBase>();
      expectTypeOf(ctx).toEqualTypeOf<UserContext>();
    });
    expectTypeOf(defineMutators({ remove })).toEqualTypeOf<Mutators>();
  });

  test('a mutator that needs more than the context offers does not fit', () => {
    expectTypeOf<Mutators<ClientBase, AppContext>>().not.toExtend<Mutators<ClientBase, UserContext>>();
    expectTypeOf<Mutators<ClientBase, UserContext>>().toExtend<Mutators<ClientBase, AppContext>>();
  });
});

describe('defineMutators', () => {
  const leaf = defineMutator(() => {});

  test('names leaves by their path', () => {
    const tree = { a: leaf, b: { c: leaf, d: { e: leaf } }, 'f.g': leaf, run: { run: leaf } };
    expect([...defineMutators(tree).keys()]).toEqual(['a', 'b.c', 'b.d.e', 'f.g', 'run.run']);
  });

  test('takes own enumerable keys only', () => {
    const tree = Object.defineProperty(Object.create({ inherited: leaf }), 'hidden', { value: leaf });
    expect(defineMutators(tree as MutatorTree).size).toBe(0);
  });

  test.each(['__proto__', 'constructor', 'toString', 'a', ''])('%j is no name of a mutator', (name) => {
    expect(defineMutators({ a: { b: leaf } }).get(name)).toBeUndefined();
  });

  test('lists everything that is wrong at once', () => {
    const tree = {
      '': leaf,
      'a..b': leaf,
      c: { '.d': leaf },
      e: { f: leaf },
      'e.f': leaf,
      g: () => {},
      h: null,
      i: { run: 5 },
    };
    expect(() => defineMutators(tree as unknown as MutatorTree)).toThrow(SetupError);
    expect(() => defineMutators(tree as unknown as MutatorTree)).toThrow(
      /^The mutators cannot be served: "" has an empty segment; "a..b" has .*; "c..d" has .*; "e.f" is defined twice; "g" is not a mutator: .*; "h" is not a mutator: .*; "i.run" is not a mutator/,
    );
  });
});

describe('validate', () => {
  test('returns what the validator makes of the args', async () => {
    expect(await validate(z.object({ n: z.coerce.number() }), { n: '1', x: 2 })).toEqual({ n: 1 });
    expect(await validate(undefined, { any: 'thing' })).toEqual({ any: 'thing' });
    expect(
      await validate(
        z.string().refine(async () => true),
        'a',
      ),
    ).toBe('a');
  });

  test('names each issue and where it is', async () => {
    const refused = validate(z.object({ a: z.array(z.object({ b: z.string() })) }), { a: [{ b: 1 }, {}] });
    await expect(refused).rejects.toThrow(InvalidArgsError);
    await expect(refused).rejects.toThrow(/^args\.a\.0\.b: .*; args\.a\.1\.b: /);
  });
});
