import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeValidator } from './json-schema.js';
import { smallestValue } from './smallest-value.js';

it.each([
  ['a string', z.string(), 'x'],
  ['a long string', z.string().min(3), 'xxx'],
  ['a UUID', z.uuid(), '00000000-0000-4000-8000-000000000000'],
  ['a date', z.iso.date(), '2000-01-01'],
  ['a choice', z.enum(['open', 'closed']), 'open'],
  ['a constant', z.literal(7), 7],
  ['a number', z.number(), 0],
  ['a positive integer', z.int().positive(), 1],
  ['a large number', z.number().min(10), 10],
  ['a negative number', z.number().max(-5), -5],
  ['a default', z.number().default(20), 20],
  ['an example', z.string().meta({ examples: ['p1'] }), 'p1'],
  ['a boolean', z.boolean(), false],
  ['an array', z.array(z.string()), []],
  ['an array of two', z.array(z.string()).min(2), ['x', 'x']],
  ['one of two types', z.union([z.int(), z.string()]), 0],
  ['null or a string', z.string().nullable(), 'x'],
  ['an object', z.object({ a: z.string(), b: z.number().optional() }), { a: 'x' }],
  ['a definition', z.object({ a: z.object({ b: z.int() }).meta({ id: 'SmallestB' }) }), { a: { b: 0 } }],
])('the smallest value of %s is accepted', async (_, validator, expected) => {
  const { schema } = await describeValidator(validator, 'input');
  const value = smallestValue(schema);
  expect(value).toEqual(expected);
  expect(validator.safeParse(value).success).toBe(true);
});
