/** Access to a sync that starts, or a tenant that opens, at the first read or call. */
import { expect, it, vi } from 'vitest';
import { lazySync } from '../../../packages/tidemark/src/index.js';
import { createTenantDatabase, startTenants, type views as tenantViews } from '../tenants/tenanted.js';
import { problemOf, setUpApplication } from './accessed.js';

const application = setUpApplication();

it('a context that authenticate must not return is a TypeError', async () => {
  const lazy = lazySync(async () => application.server.sync);
  for (const sync of [application.server.sync, lazy]) {
    expect(() => sync.as({ userID: '' })).toThrow(TypeError);
    expect(() => sync.as({ userID: 'ann', expiresAt: 'never' as never })).toThrow('expiresAt must be a valid Date');
  }
});

it('a lazy sync starts at the first read or call, and its access answers like that of the sync', async () => {
  const starts = vi.fn(async () => (await application.serve()).sync).mockRejectedValueOnce(new Error('no database'));
  const lazy = lazySync(starts);
  const access = lazy.as({ userID: 'ann' });
  expect(starts).not.toHaveBeenCalled();
  await expect(access.view('note').rows()).rejects.toThrow('no database');
  await access.mutate.note.create({ id: 1 });
  expect(await access.view('note').row(1)).toMatchObject({ id: 1 });
  const { rows, cookie } = await access.view('note').rows();
  expect([rows.length, typeof cookie]).toEqual([1, 'string']);
  expect(await access.batch([{ name: 'note.count' }])).toEqual([{ notes: 1, at: new Date(0) }]);
  expect(await problemOf(access.mutate.note.refuse({ id: 3 }))).toMatchObject({ code: 'mutator-error' });
  expect(await problemOf((access.mutate as never as typeof mutate).isue.close())).toMatchObject({
    code: 'unknown-mutator',
  });
  expect(starts).toHaveBeenCalledTimes(2);
  await lazy.close();
  await expect(access.view('note').rows()).rejects.toThrow();
});
declare const mutate: { readonly isue: { close(): Promise<void> } };

it('tenants are separate, and open at the first read or call', async () => {
  const databases = [await createTenantDatabase(), await createTenantDatabase()] as const;
  const tenants = await startTenants({ acme: databases[0].url, blau: databases[1].url });
  const access = (tenant: string, userID = 'ann') => tenants.as<object, typeof tenantViews>(tenant, { userID });
  const create = (tenant: string, id: string) =>
    access(tenant).batch([{ name: 'note.create', args: { id, body: tenant } }]);
  await Promise.all([create('acme', 'a'), create('blau', 'b')]);
  expect((await access('acme').view('note').rows()).rows).toEqual([{ id: 'a', body: 'acme' }]);
  const { rows: owners } = await databases[0].pool.query('select owner_id from note');
  expect(owners).toEqual([{ owner_id: 'ann' }]);
  expect(await access('blau').view('note').row('b')).toEqual({ id: 'b', body: 'blau' });
  expect((await access('blau', 'ben').view('note').rows()).rows).toEqual([]);
  for (const name of ['cyan', '', '\0']) {
    expect(await problemOf(access(name).view('note').rows())).toMatchObject({ code: 'not-found', status: 404 });
  }
  expect(() => access('acme', '')).toThrow(TypeError);
  await tenants.close();
  for (const each of databases) await each.drop();
});
