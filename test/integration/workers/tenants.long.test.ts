/** `tidemark serve --workers` on a configuration of tenants. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { folder, serve, tidemark, useFolder } from '../cli/commands.js';
import { answering, Load } from './load.js';

const names = ['acme', 'blau'] as const;
let databases: TestDatabase[];
let urls: Record<string, string>;

useFolder();
beforeAll(async () => {
  databases = await Promise.all(names.map(() => createEmptyDatabase()));
  urls = Object.fromEntries(names.map((name, i) => [name, databases[i]!.url]));
  for (const { url } of databases) await migrate({ database: url, views: {}, log: silent });
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

const fileOf = () => join(folder, 'tidemark.config.ts');

beforeEach(() => {
  writeFileSync(
    fileOf(),
    `
import { defineMutator, defineMutators, defineTenants } from 'tidemark';

const urls = ${JSON.stringify(urls)};
const mutators = defineMutators({ pid: defineMutator(() => process.pid) });

export default defineTenants({
  tenantOf: (request) => new URL(request.url).searchParams.get('tenant'),
  open: (tenant) => ({
    database: urls[tenant],
    views: {},
    mutators,
    authenticate: () => ({ userID: 'ann' }),
    rates: { perUser: 1e9 },
  }),
  metrics: 'public',
});
`,
  );
});

it('the command serves all tenants from each worker, and replaces workers without failed requests', async () => {
  const { url, child, printed, ended } = await serve({}, '--workers', '2');
  const loads = names.map((name) => new Load(`${url}/api/mutators/pid?tenant=${name}`, { keepAlive: 1, fresh: 1 }));
  const before = await Promise.all(loads.map((load) => answering(load, 2)));
  expect(before[0]!.toSorted()).toEqual(before[1]!.toSorted());
  const stream = await fetch(`${url}/sync/poke?tenant=acme&clientGroupID=g&profileID=p`);

  child.kill('SIGHUP');
  await printed(/All workers have been replaced/);
  expect(await stream.text()).toContain('data:');
  for (const load of loads) {
    const after = await answering(load, 2);
    expect(after.filter((pid) => before[0]!.includes(pid))).toEqual([]);
  }

  writeFileSync(fileOf(), `export default { views: {}, authenticate: () => null };`);
  child.kill('SIGHUP');
  await printed(/had tenants when the server was started.*could not be replaced\. The workers that serve go on\./);
  for (const load of loads) await load.end();
  expect(loads.flatMap(({ failed }) => failed)).toEqual([]);
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: 'ok', tenants: { open: 2 } });
  const counted = /^tidemark_request_duration_seconds_count\{route="\/api\/mutators\/\*",status="200"\} (\d+)$/m;
  const [, count] = counted.exec(await (await fetch(`${url}/metrics`)).text()) ?? [];
  expect(Number(count)).toBe(loads.flatMap(({ calls }) => calls).length);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0, signal: null });
});

it('the command refuses SYNC_MUTATE_URL with tenants, as it does without workers', async () => {
  // No process uses the database that the environment names.
  const DATABASE_URL = 'postgres://127.0.0.1:1/none';
  const env = { DATABASE_URL, SYNC_MUTATE_URL: 'http://127.0.0.1:1/push', PORT: '0', HOST: '127.0.0.1' };
  const [alone, withWorkers] = [await tidemark(['serve'], env), await tidemark(['serve', '--workers', '2'], env)];
  expect(alone).toMatchObject({ code: 1, stderr: expect.stringMatching(/Let `open` return the option `forward`/) });
  expect(withWorkers).toEqual(alone);
});
