import { expect, it } from 'vitest';
import { z } from 'zod';
import { otherValues } from './other-values.js';

const firstOf = (shape: z.ZodRawShape, sample: object) =>
  Object.fromEntries(
    otherValues(sample as Record<string, unknown>, z.toJSONSchema(z.object(shape), { io: 'input' }) as never).map(
      ({ name, values: [first] }) => [name, first],
    ),
  );

it('each property has another value of its type', () => {
  const shape = { text: z.string(), count: z.int(), isOpen: z.boolean(), kind: z.enum(['a', 'b']), day: z.iso.date() };
  const sample = { text: '', count: 0, isOpen: false, kind: 'a', day: '2000-02-28' };
  expect(firstOf(shape, sample)).toEqual({ text: 'x', count: 1, isOpen: true, kind: 'b', day: '2001-02-28' });
  const id = '00000000-0000-4000-8000-000000000001';
  expect(firstOf({ id: z.uuid() }, { id })).toEqual({ id: id.replace(/1$/, '2') });
});

it('properties that are absent, null or empty get a value', () => {
  const shape = { locale: z.string().optional(), ids: z.array(z.int()), parent: z.string().nullable() };
  expect(firstOf(shape, { ids: [], parent: null })).toEqual({ locale: 'x', ids: [0], parent: 'x' });
});

it('a property that can only have one value has no other', () => {
  const schema = z.toJSONSchema(z.object({ kind: z.null() })) as never;
  expect(otherValues({ kind: null }, schema)).toEqual([{ name: 'kind', values: [] }]);
});

it('properties without a schema have other values, too', () => {
  expect(otherValues({ a: { b: ['x'] } }, true)).toEqual([{ name: 'a', values: [{ b: ['xx'] }] }]);
});
