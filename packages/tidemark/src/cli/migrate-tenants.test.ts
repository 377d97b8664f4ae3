/** Tests the exit code of `migrate --all`, without a build. */

import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { migrateTenants } from './migrate-tenants.js';
import { createTerminal } from './terminal.js';

const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };

it.each([
  [[], 0],
  [['gone'], 1],
])('migrating the tenants %j, which have no options, returns exit code %i', async (names, code) => {
  const config = { tenantOf: () => null, open: () => null, list: () => names };
  expect(await migrateTenants(createTerminal(streams), config, 2)).toBe(code);
});
