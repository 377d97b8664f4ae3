import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SetupError } from '../errors.js';
import { defineMutator, defineMutators, type MutatorTree } from './mutators.js';
import { InvalidArgsError, validate } from './prepare.js';

describe('defineMutators', () => {
  const leaf = defineMutator(() => {});

  it('names leaves by their path', () => {
    const tree = { a: leaf, b: { c: leaf, d: { e: leaf } }, 'f.g': leaf, run: { run: leaf } };
    expect([...defineMutators(tree).keys()]).toEqual(['a', 'b.c', 'b.d.e', 'f.g', 'run.run']);
  });

  it('ignores inherited and hidden keys', () => {
    const tree = Object.defineProperty(Object.create({ inherited: leaf }), 'hidden', { value: leaf });
    expect(defineMutators(tree as MutatorTree).size).toBe(0);
  });

  it.each(['__proto__', 'constructor', 'toString', 'a', ''])('returns no mutator with the name %j', (name) => {
    expect(defineMutators({ a: { b: leaf } }).get(name)).toBeUndefined();
  });

  it('reports all errors together', () => {
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
  it('returns the args as the validator transforms them', async () => {
    expect(await validate(z.object({ n: z.coerce.number() }), { n: '1', x: 2 })).toEqual({ n: 1 });
    expect(await validate(undefined, { any: 'thing' })).toEqual({ any: 'thing' });
    expect(
      await validate(
        z.string().refine(async () => true),
        'a',
      ),
    ).toBe('a');
  });

  it('reports each issue with its path', async () => {
    const refused = validate(z.object({ a: z.array(z.object({ b: z.string() })) }), { a: [{ b: 1 }, {}] });
    await expect(refused).rejects.toThrow(InvalidArgsError);
    await expect(refused).rejects.toThrow(/^args\.a\.0\.b: .*; args\.a\.1\.b: /);
  });
});
