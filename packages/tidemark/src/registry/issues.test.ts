import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { toIssues } from './issues.js';
import { InvalidArgsError, validate } from './prepare.js';

const validators = {
  'zod 4': z.object({ title: z.string().max(5), sort: z.number().max(9), tags: z.array(z.string()).optional() }),
  'zod/mini': mini.object({
    title: mini.string().check(mini.maxLength(5)),
    sort: mini.number().check(mini.maximum(9)),
    tags: mini.optional(mini.array(mini.string())),
  }),
  valibot: v.object({
    title: v.pipe(v.string(), v.maxLength(5)),
    sort: v.pipe(v.number(), v.maxValue(9)),
    tags: v.optional(v.array(v.string())),
  }),
  arktype: type({ title: 'string <= 5', sort: 'number <= 9', 'tags?': 'string[]' }),
};

async function issuesOf(validator: (typeof validators)[keyof typeof validators], args: unknown) {
  const error = await validate(validator, args).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof InvalidArgsError ? toIssues(error.issues, args) : undefined;
}

describe.each(Object.entries(validators))('a validator of %s', (_, validator) => {
  it('returns no issues for valid args', async () => {
    expect(await issuesOf(validator, { title: 'short', sort: 9, tags: [] })).toBeUndefined();
  });

  it('returns issues with their paths', async () => {
    const issues = await issuesOf(validator, { title: 7, sort: 'x', tags: ['a', 1] });
    expect(issues?.map(({ path }) => path.join('.')).sort()).toEqual(['sort', 'tags.1', 'title']);
    for (const { message } of issues ?? []) expect(message).toMatch(/\w/);
  });

  it('returns no issue that quotes the args', async () => {
    for (const args of [
      { title: 'a secret', sort: 1234 },
      { title: 'say "secret"\n', sort: 1234 },
      { title: { secret: 'secret' }, sort: ['secret', 1234] },
      'secret',
      { title: 'ok', sort: 1, tags: [['secret', 1234]] },
    ]) {
      const issues = await issuesOf(validator, args);
      expect(issues).not.toEqual([]);
      expect(JSON.stringify(issues)).not.toMatch(/secret|1234/);
    }
  });
});

it('an unknown key is not quoted', async () => {
  const strict = z.strictObject({ id: z.string() });
  const args = { id: 'a', secret: 1 };
  const { issues } = (await strict['~standard'].validate(args)) as { issues: { message: string }[] };
  expect(issues[0]!.message).toContain('secret');
  expect(toIssues(issues, args)).toEqual([{ path: [], message: expect.not.stringContaining('secret') }]);
});

it('a short value is not removed from the middle of words', () => {
  const issue = { message: 'must be a number of at most 10 (was 1)', path: ['n'] };
  expect(toIssues([issue], { n: 1 })).toEqual([{ path: ['n'], message: 'must be a number of at most 10 (was …)' }]);
});

it('only the first hundred issues are returned, and large args are not searched for quoted parts', () => {
  const args = Array.from({ length: 5_000 }, (_, i) => `part ${i}`);
  const issues = toIssues(
    args.map((_, i) => ({ message: 'part 3 is wrong', path: i === 0 ? [] : [i] })),
    args,
  );
  expect(issues).toHaveLength(100);
  expect(issues[0]).toEqual({ path: [], message: 'Invalid value' });
});

it.each([10_000, 1_000_000])('a value may be nested %d levels deep', (depth) => {
  let args: unknown = 'secret';
  for (let i = 0; i < depth; i++) args = [args];
  expect(toIssues([{ message: 'secret is wrong' }], args)).toEqual([{ path: [], message: 'Invalid value' }]);
});

it('keys in a path may be symbols, or wrapped in objects', () => {
  const path = [{ key: 'a' }, 0, Symbol('s')];
  expect(toIssues([{ message: 'no', path }], {})).toEqual([{ path: ['a', 0, 'Symbol(s)'], message: 'no' }]);
});

it('a path may lead below the args', () => {
  const path = ['a', 'b', 'c'];
  for (const args of [{ a: null }, { a: { b: 1 } }, null, undefined]) {
    expect(toIssues([{ message: 'no', path }], args)).toEqual([{ path, message: 'no' }]);
  }
});
