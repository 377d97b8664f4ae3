import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestDatabase } from '../database.js';
import { createTenantDatabase, opened, pull, push, requestTo, startTenants, type Tenanted } from './tenanted.js';

const names = ['acme', 'blau', 'cyan'] as const;
let databases: TestDatabase[];
let urls: Record<string, string>;
beforeAll(async () => {
  databases = [];
  for (const _ of names) databases.push(await createTenantDatabase());
  urls = Object.fromEntries(names.map((name, i) => [name, databases[i]!.url]));
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

let tenants: Tenanted;
afterEach(() => tenants.close());

const occupancy = async () => (await (await tenants.fetch(requestTo('/readyz', { method: 'GET' }))).json()).tenants;

describe('many tenants', () => {
  it('each have their own data', async () => {
    tenants = await startTenants(urls);
    expect((await push(tenants, 'acme', { id: 'n', body: 'hello' })).status).toBe(200);
    expect((await (await pull(tenants, 'acme')).json()).patch).toMatchObject([{ op: 'clear' }, { key: 'note/n' }]);
    expect((await (await pull(tenants, 'blau')).json()).patch).toEqual([{ op: 'clear' }]);
    await databases[0]!.pool.query('delete from note');
  });

  it('are opened when they are first used, once, whoever asks meanwhile', async () => {
    const open = vi.fn((tenant: string) => opened(urls[tenant]!));
    tenants = await startTenants(urls, { open });
    expect(await occupancy()).toEqual({ open: 0, busy: 0, failing: 0 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => pull(tenants, 'acme')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(open.mock.calls).toEqual([['acme']]);
  });
});
