import * as v from 'valibot';
import { expect, it, vi } from 'vitest';
import * as mini from 'zod/mini';
import { documentArgs } from '../../../../test/integration/openapi/schemas.js';

vi.mock('@valibot/to-json-schema', () => {
  throw new Error('Cannot find package');
});
vi.mock('zod', () => {
  throw new Error('Cannot find package');
});

it('describes args as any value if the package that converts their validator is missing', async () => {
  const { schemas, warnings } = await documentArgs({ valibot: v.string(), mini: mini.string() });
  const anything = { description: 'Not described: JSON Schema cannot express it.' };
  expect(schemas).toMatchObject({ ValibotArgs: anything, MiniArgs: anything });
  expect(warnings).toEqual(
    [
      ['valibot', '@valibot/to-json-schema'],
      ['mini', 'zod'],
    ].map(
      ([name, missing]) =>
        `${name}: its arguments could not be converted to JSON Schema ` +
        `(the package ${missing} could not be loaded: is it installed?); they are described as any value`,
    ),
  );
});
