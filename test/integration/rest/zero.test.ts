/** The registry of the real `@rocicorp/zero` package, served unmodified, in Zero's own transactions. */
import { ApplicationError, createSchema, defineMutator, defineMutators, string, table } from '@rocicorp/zero';
import { zeroNodePg } from '@rocicorp/zero/server/adapters/pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { createRest } from '../../../packages/tidemark/src/rest.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';

const schema = createSchema({ tables: [table('note').columns({ id: string(), body: string() }).primaryKey('id')] });

const validators = { note: { create: z.object({ id: z.string(), body: z.string().trim().default('') }) } };

const mutators = defineMutators({
  note: {
    create: defineMutator(validators.note.create, async ({ tx, args }) => {
      await (tx as unknown as Writes).mutate.note!.insert!(args);
    }),
    clear: defineMutator(z.undefined(), async ({ tx }) => {
      await (tx as unknown as Writes).dbTransaction.query('delete from note', []);
    }),
    copy: defineMutator(z.string(), async ({ tx, args }) => {
      await (tx as unknown as Writes).dbTransaction.query('insert into note select * from note where id = $1', [args]);
    }),
    refuse: defineMutator(async ({ tx }) => {
      await (tx as unknown as Writes).mutate.note!.insert!({ id: 'refused', body: '' });
      throw new ApplicationError('Not today', { details: { until: 'Monday' } });
    }),
  },
  whoami: defineMutator(async ({ ctx, tx }) => {
    seen.push({ ctx, clientID: (tx as unknown as Writes).clientID });
  }),
});

/** The operations of a Zero transaction, without the types of a schema. */
interface Writes {
  readonly clientID: string;
  readonly mutate: Record<string, Record<string, (row: object) => Promise<void>>>;
  readonly dbTransaction: { query(text: string, values: unknown[]): Promise<Iterable<unknown>> };
}

const seen: unknown[] = [];
let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query('create table note (id text primary key, body text not null)');
  await migrate({ database: database.url, views: {}, log: silent });
});
afterAll(() => database.drop());
beforeEach(async () => {
  seen.length = 0;
  await database.pool.query('delete from note');
});

describe.each([
  ['alone', {}],
  ['with separate validators', { validators }],
])('a registry of Zero, %s', (_, options) => {
  const { log, lines } = memoryLog();
  const served = () => {
    const zql = zeroNodePg(schema, database.pool);
    return createRest({
      mutators,
      query: (tx: Writes, text: string, values: readonly unknown[]) => tx.dbTransaction.query(text, [...values]),
      transact: (work) => zql.transaction((tx) => work(tx as unknown as Writes)),
      authenticate: () => ({ userID: 'ann' }),
      log,
      ...options,
    });
  };
  const call = (path: string, args?: unknown, headers: Record<string, string> = {}) =>
    served().fetch(
      new Request(`http://localhost/api/mutators${path}`, {
        method: 'POST',
        headers: { ...(args !== undefined && { 'Content-Type': 'application/json' }), ...headers },
        ...(args !== undefined && { body: JSON.stringify(args) }),
      }),
    );
  const notes = async () => (await database.pool.query('select id, body from note')).rows;

  it("runs its mutators in Zero's transactions", async () => {
    const response = await call('/note/create', { id: 'a', body: '  hello ' });
    expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
    expect(await notes()).toEqual([{ id: 'a', body: 'hello' }]);
    expect((await call('/note/clear')).status).toBe(200);
    expect(await notes()).toEqual([]);
  });

  it('passes the context to its mutators', async () => {
    await call('/whoami');
    expect(seen).toEqual([{ ctx: { userID: 'ann' }, clientID: '' }]);
  });

  it('reports args that its validators refuse', async () => {
    const response = await call('/note/create', { id: 7, body: 'secret' });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: 'invalid-args',
      issues: [{ path: ['id'], message: expect.any(String) }],
    });
    expect((await call('/note/clear', null)).status).toBe(422);
  });

  it('reports what its mutators refuse, and stores nothing', async () => {
    const response = await call('/note/refuse');
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: 'mutator-error', error: 'Not today', details: { until: 'Monday' } },
    ]);
    expect(await notes()).toEqual([]);
  });

  it('hides errors of the database', async () => {
    await call('/note/create', { id: 'a' });
    const response = await call('/note/copy', 'a');
    expect(response.status).toBe(409);
    expect(await response.text()).not.toMatch(/duplicate|note_pkey/);
    expect(JSON.stringify(lines)).toContain('note_pkey');
  });

  it('has no names but those of its mutators', async () => {
    for (const path of ['/note', '/~', '/note/~', '/__proto__', '/constructor', '/note/create/fn', '/note/__proto__']) {
      expect((await call(path, {})).status).toBe(404);
    }
  });

  it('stores the responses for idempotency keys', async () => {
    const key = { 'Idempotency-Key': `k${Object.keys(options).length}` };
    expect((await call('/note/create', { id: 'a' }, key)).status).toBe(200);
    expect((await call('/note/create', { id: 'a' }, key)).headers.get('Idempotent-Replayed')).toBe('true');
    expect((await call('/note/create', { id: 'b' }, key)).status).toBe(422);
  });

  it('runs batches and dry runs', async () => {
    const batch = ['a', 'b'].map((id) => ({ name: 'note.create', args: { id } }));
    expect((await call('', batch, { Prefer: 'tx=rollback' })).status).toBe(200);
    expect(await notes()).toEqual([]);
    expect((await call('', [...batch, { name: 'note.refuse' }])).status).toBe(400);
    expect(await notes()).toEqual([]);
    expect((await call('', batch)).status).toBe(200);
    expect(await notes()).toHaveLength(2);
  });
});

it('a call with a key is refused if the database has no table for keys', async () => {
  const bare = await createEmptyDatabase();
  await bare.pool.query('create table note (id text primary key, body text not null)');
  const { log, lines } = memoryLog();
  const zql = zeroNodePg(schema, bare.pool);
  const rest = createRest({
    mutators,
    query: (tx: Writes, text: string, values: readonly unknown[]) => tx.dbTransaction.query(text, [...values]),
    transact: (work) => zql.transaction((tx) => work(tx as unknown as Writes)),
    authenticate: () => ({ userID: 'ann' }),
    log,
  });
  const call = (headers: Record<string, string>) =>
    rest.fetch(new Request('http://localhost/api/mutators/whoami', { method: 'POST', headers }));
  expect((await call({})).status).toBe(200);
  const response = await call({ 'Idempotency-Key': 'k' });
  expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '1']);
  expect(JSON.stringify(lines)).toContain('run tidemark migrate on this database');
  await bare.drop();
});
