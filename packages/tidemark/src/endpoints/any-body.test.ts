import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pull, push, setUp } from '../../../../test/integration/endpoints/requests.js';

it('no request body causes a status of 500 or more', async () => {
  const { post } = setUp();
  const field = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constant(1));
  const body = fc.oneof(
    fc.uint8Array(),
    fc.json(),
    fc
      .record(
        { ...Object.fromEntries([...Object.keys(pull), ...Object.keys(push)].map((key) => [key, field])) },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value)),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('/sync/pull', '/sync/push'), body, async (path, bytes) => {
      expect((await post(path, bytes as string)).status).toBeLessThan(500);
    }),
    { numRuns: 500 },
  );
});
