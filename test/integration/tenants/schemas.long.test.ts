/** Tenants with a schema each in one database. They share Tidemark's records, and nothing else. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { ddl, pull, push, requestTo, startTenants, type Tenanted, views } from './tenanted.js';

const names = ['acme', 'blau'] as const;
let database: TestDatabase;
const urlOf = (schema: string) => `${database.url}?options=-c%20search_path%3D${schema}`;
const createTables = (schema: string) =>
  database.pool.query(`create schema ${schema}; ${ddl.replace('note', `${schema}.note`)}`);

beforeAll(async () => {
  database = await createEmptyDatabase();
  for (const name of [...names, 'cyan']) await createTables(name);
  // In parallel, as `migrate --all` does.
  await Promise.all(names.map((name) => migrate({ database: urlOf(name), views, log: silent })));
});
afterAll(() => database.drop());

let tenants: Tenanted;
/** IDs that no other test has used. */
let clientGroupID: string;
let clientID: string;
beforeEach(async () => {
  await database.pool.query(names.map((name) => `delete from ${name}.note`).join(';'));
  tenants = await startTenants(Object.fromEntries([...names, 'cyan'].map((name) => [name, urlOf(name)])));
  clientGroupID = randomUUID();
  clientID = randomUUID();
});
afterEach(() => tenants.close());

const note = { id: 'n', body: 'of acme' };
const pullAs = async (tenant: string, body: object) => (await pull(tenants, tenant, 'ann', body)).json();

describe('tenants of one database', () => {
  it('read and write the tables of their schemas, even if their users have the same IDs', async () => {
    expect((await push(tenants, 'acme', note, { clientID, clientGroupID })).status).toBe(200);
    expect(await pullAs('acme', { clientGroupID })).toMatchObject({ patch: [{ key: 'note/n' }] });
    const read = await tenants.fetch(requestTo('/api/views/note', { tenant: 'acme', method: 'GET' }));
    expect(await read.json()).toMatchObject([note]);
    const other = await pullAs('blau', { clientGroupID: randomUUID() });
    expect(other).toMatchObject({ patch: [], lastMutationIDChanges: {} });
    const rows = await database.pool.query(
      `select 'acme' as schema, owner_id from acme.note union all select 'blau', owner_id from blau.note`,
    );
    // The application's own tables hold the IDs that it assigned.
    expect(rows.rows).toEqual([{ schema: 'acme', owner_id: 'ann' }]);
  });

  it('refuse the client groups and clients of other tenants', async () => {
    await push(tenants, 'acme', note, { clientID, clientGroupID });
    const pulled = await pull(tenants, 'blau', 'ann', { clientGroupID });
    expect(await pulled.json()).toMatchObject({ status: 403, code: 'forbidden' });
    const pushed = await push(tenants, 'blau', note, { clientID, clientGroupID, mutationID: 2 });
    expect(pushed.status).toBe(403);
    const inOwnGroup = { clientID, clientGroupID: randomUUID(), mutationID: 2 };
    expect((await push(tenants, 'blau', note, inOwnGroup)).status).toBe(403);
    expect((await database.pool.query('select from blau.note')).rowCount).toBe(0);
    const { lastMutationIDChanges } = await pullAs('acme', { clientGroupID });
    expect(lastMutationIDChanges).toEqual({ [clientID]: 1 });
  });

  it("answer another tenant's cookie with a reset", async () => {
    await push(tenants, 'acme', note, { clientID, clientGroupID });
    const { cookie } = await pullAs('acme', { clientGroupID });
    await database.pool.query(`insert into blau.note (id, owner_id, body) values ('b', 'ann', 'of blau')`);
    const { patch } = await pullAs('blau', { clientGroupID: randomUUID(), cookie });
    expect(patch).toMatchObject([{ op: 'clear' }, { op: 'put', key: 'note/b' }]);
  });

  it('separate the refusals and idempotency keys of users with the same ID', async () => {
    await push(tenants, 'acme', note, { clientID, clientGroupID });
    await push(tenants, 'acme', note, { clientID, clientGroupID, mutationID: 2 });
    const refusalsOf = async (tenant: string, group: string) => {
      const { patch } = await pullAs(tenant, { clientGroupID: group, refused: true });
      return patch.filter(({ key }: { key: string }) => key.startsWith('tidemark/refused')).length;
    };
    expect([await refusalsOf('acme', clientGroupID), await refusalsOf('blau', randomUUID())]).toEqual([1, 0]);

    const call = async (tenant: string, id: string) => {
      const request = requestTo('/api/mutators/note.create', { tenant, body: { id, body: `of ${tenant}` } });
      request.headers.set('Idempotency-Key', clientID);
      return (await tenants.fetch(request)).status;
    };
    expect(await Promise.all([call('acme', 'c1'), call('blau', 'c2')])).toEqual([200, 200]);
    expect(await pullAs('blau', { clientGroupID: randomUUID() })).toMatchObject({ patch: [{ key: 'note/c2' }] });
  });

  it('are not poked after changes of other tenants', async () => {
    const poke = vi.fn();
    const end = await tenants.onPoke('blau', { userID: 'ann' }, poke, { clientGroupID, profileID: 'p' });
    await push(tenants, 'acme', note, { clientID, clientGroupID: randomUUID() });
    await push(tenants, 'blau', { id: 'b', body: 'of blau' }, { clientID: randomUUID(), clientGroupID: randomUUID() });
    await vi.waitFor(() => expect(poke).toHaveBeenCalledTimes(2), 10_000);
    end();
  });

  it('disconnect only their own users', async () => {
    const ended: string[] = [];
    for (const tenant of ['acme', 'blau']) {
      await tenants.onPoke(
        tenant,
        { userID: 'ann' },
        () => {},
        {},
        () => ended.push(tenant),
      );
    }
    await database.pool.query(`select tidemark.disconnect('acme/ann')`);
    await vi.waitFor(() => expect(ended).toEqual(['acme']), 10_000);
    await tenants.disconnect('blau', 'ann');
    expect(ended).toEqual(['acme', 'blau']);
    expect((await database.pool.query('select key from tidemark.change where table_id = -1')).rows).toContainEqual({
      key: ['blau/ann'],
    });
    await expect(tenants.disconnect('blau', '')).rejects.toThrow(TypeError);
    await expect(tenants.disconnect('none', 'ann')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('are migrated one by one: only those not migrated are unavailable', async () => {
    await push(tenants, 'acme', note, { clientID, clientGroupID });
    const { cookie } = await pullAs('acme', { clientGroupID });
    const refused = await pull(tenants, 'cyan');
    expect(await refused.json()).toMatchObject({ status: 503, degraded: ['setup'] });
    expect(JSON.stringify(tenants.lines)).toContain('Changes to cyan.note are not captured');
    await migrate({ database: urlOf('cyan'), views, log: silent });
    expect(await pullAs('acme', { clientGroupID, cookie })).toMatchObject({ patch: [] });
    await vi.waitFor(
      async () => expect((await pull(tenants, 'cyan', 'ann', { clientGroupID: 'c' })).status).toBe(200),
      10_000,
    );
  });
});
