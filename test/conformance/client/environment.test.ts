import { version } from 'replicache';
import { expect, test } from 'vitest';

test(`the tests beside this one run replicache ${version} with NODE_ENV=${process.env.NODE_ENV}`, async () => {
  expect(version).toBe('15.3.0');
  expect(['production', 'development']).toContain(process.env.NODE_ENV);
});
