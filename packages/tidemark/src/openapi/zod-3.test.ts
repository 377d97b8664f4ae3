import { expect, it, vi } from 'vitest';
import * as mini from 'zod/mini';
import { z } from 'zod/v3';
import { documentArgs } from '../../../../test/integration/openapi/schemas.js';

/** The exports of zod 3. */
vi.mock('zod', () => ({ z: {}, toJSONSchema: undefined }));

it('warns for each mutator that its validator can be described only with zod 4', async () => {
  const { schemas, warnings } = await documentArgs({ old: z.object({ id: z.string() }), mixed: mini.string() });
  const anything = { description: 'Not described: JSON Schema cannot express it.' };
  expect(schemas).toMatchObject({ OldArgs: anything, MixedArgs: anything });
  expect(warnings).toEqual(
    ['old', 'mixed'].map(
      (name) =>
        `${name}: its arguments could not be converted to JSON Schema (this needs zod 4, and it is of zod 3, which ` +
        'validates just as well: install zod 4 to have it described); they are described as any value',
    ),
  );
});
