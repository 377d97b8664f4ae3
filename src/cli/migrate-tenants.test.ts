/** What `migrate --all` returns, on the sources. */

import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { migrateTenants } from './migrate-tenants.js';
import { createTerminal } from './terminal.js';

const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };

it.each([
  [[], 0],
  [['gone'], 1],
])('of the tenants %j without options, the exit code is %i', async (names, code) => {
  const config = { tenantOf: () => null, open: () => null, list: () => names };
  expect(await migrateTenants(createTerminal(streams), config, 2)).toBe(code);
});
