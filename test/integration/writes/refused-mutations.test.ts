/** The records of refused mutations, and what the application's hook receives. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { authenticate } from '../../../examples/tasks/src/auth.js';
import { createSync, type RefusedMutation } from '../../../packages/tidemark/src/index.js';
import { silent } from '../../support/log.js';
import type { TestServer } from '../conformance/server.js';
import { mutation, push, send } from '../conformance/wire.js';
import { keysIn, mutators, pullRefused, refuse, refusedOf, serveRefusing, views } from './refused.js';

let server: TestServer;
let hookCalls: RefusedMutation[];
let onRefused: (refused: RefusedMutation) => unknown;

beforeAll(async () => {
  server = await serveRefusing({
    onRefused: (refused) => {
      hookCalls.push(refused);
      return onRefused(refused);
    },
  });
});
afterAll(() => server.close());
beforeEach(async () => {
  hookCalls = [];
  onRefused = () => {};
  server.lines.length = 0;
  await server.pool.query('delete from item; delete from tidemark.refusal; delete from tidemark.change');
  await server.pool.query('delete from tidemark.client; delete from tidemark.client_group');
});

const recorded = async () => {
  const { rows } = await server.pool.query<{ id: string }>(
    `select concat_ws('/', user_id, profile_id, client_id, mutation_id) as id from tidemark.refusal order by mutation_id`,
  );
  return rows.map(({ id }) => id);
};

const lastMutationIDs = async () => {
  const { rows } = await server.pool.query('select id, last_mutation_id::int as last from tidemark.client order by id');
  return Object.fromEntries(rows.map(({ id, last }) => [id, last]));
};

const isError = ({ level }: { readonly level: string }) => level === 'error';

describe('the author of a mutation that is refused', () => {
  it('receives its ID, the reason and the time, but no detail of unintended errors', async () => {
    const before = Date.now();
    const mutations = [
      mutation(1, 'refuse', 'The list is closed'),
      mutation(2, 'add', { id: 'a' }),
      mutation(3, 'zero', null),
      mutation(4, 'forbid', null),
      mutation(5, 'add', { id: 7 }),
      mutation(6, 'no such\0mutator', null),
      mutation(7, 'break', null),
      mutation(8, 'odd', null),
      mutation(9, 'add', { id: 'a' }),
    ];
    expect((await push(server, 'ann', mutations)).status).toBe(200);
    const { lastMutationIDChanges, patch } = await pullRefused(server, 'ann');
    expect(lastMutationIDChanges).toEqual({ client: 9 });
    expect(keysIn(patch, 'put').toSorted()).toEqual([1, 3, 4, 5, 6, 7, 8, 9].map((id) => `client/${id}`));
    const refused = await refusedOf(server, 'ann');
    expect(refused.map(({ at: _, ...rest }) => rest)).toEqual(
      [
        { mutationID: 1, name: 'refuse', code: 'mutator-error', detail: 'The list is closed' },
        { mutationID: 3, name: 'zero', code: 'mutator-error', detail: 'As Zero refuses' },
        { mutationID: 4, name: 'forbid', code: 'forbidden', detail: 'Only its owner may do this' },
        { mutationID: 5, name: 'add', code: 'invalid-args', detail: null },
        { mutationID: 6, name: null, code: 'unknown-mutator', detail: null },
        { mutationID: 7, name: 'break', code: 'invalid-values', detail: null },
        { mutationID: 8, name: 'odd', code: 'internal', detail: null },
        { mutationID: 9, name: 'add', code: 'conflict', detail: null },
      ].map((one) => ({ clientID: 'client', ...one })),
    );
    for (const { at } of refused) {
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(at)).toBeGreaterThan(before - 60_000);
      expect(Date.parse(at)).toBeLessThan(Date.now() + 60_000);
    }
  });

  it.each([
    ['a text that Postgres cannot store', 'a\0b\ud800', 'a\ufffdb\ufffd'],
    ['a very long text', 'x'.repeat(100_000), 'x'.repeat(1000)],
    ['no text', '', ''],
  ])('receives %s as a detail that Postgres can store', async (_, detail, stored) => {
    expect((await push(server, 'ann', [mutation(1, 'say', JSON.stringify(detail))])).status).toBe(200);
    const { rows } = await server.pool.query('select detail from tidemark.refusal');
    expect(rows).toEqual([{ detail: stored }]);
  });
});

describe('a refusal', () => {
  it('is recorded and passed to the hook once, even if the mutation arrives repeatedly', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => i + 1);
    const mutations = ids.map((id) =>
      id % 3 ? mutation(id, 'refuse', `No ${id}`) : mutation(id, 'add', { id: `${id}` }),
    );
    const pushes = [20, 5, 12, 20, 20].map((length) => push(server, 'ann', mutations.slice(0, length)));
    expect((await Promise.all(pushes)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const refused = ids.filter((id) => id % 3);
    expect(await recorded()).toEqual(refused.map((id) => `ann/profile/client/${id}`));
    const { rows } = await server.pool.query(`
      select count(*)::int as n from tidemark.change join tidemark.synced_table s on s.id = table_id
      where s.relation = 'tidemark.refusal'::regclass`);
    expect(rows).toEqual([{ n: refused.length }]);
    expect(hookCalls.map(({ mutationID }) => mutationID).toSorted((a, b) => a - b)).toEqual(refused);
  });

  it('is recorded in the transaction that skips the mutation', async () => {
    await server.pool.query(`
      create function fail() returns trigger language plpgsql as $$ begin raise exception 'not yet'; end $$;
      create constraint trigger fail after insert on tidemark.client deferrable initially deferred
        for each row execute function fail()`);
    const mutations = [mutation(1, 'refuse', 'No')];
    expect((await push(server, 'ann', mutations)).status).toBe(500);
    expect([await recorded(), await lastMutationIDs(), hookCalls]).toEqual([[], {}, []]);
    await server.pool.query('drop function fail cascade; alter table tidemark.refusal rename to gone');
    expect((await push(server, 'ann', mutations)).status).toBe(500);
    expect([await lastMutationIDs(), hookCalls]).toEqual([{}, []]);
    await server.pool.query('alter table tidemark.gone rename to refusal');
    expect((await push(server, 'ann', mutations)).status).toBe(200);
    expect([await recorded(), await lastMutationIDs()]).toEqual([['ann/profile/client/1'], { client: 1 }]);
  });

  it('is deleted, also from clients, if its user and profile have a hundred newer ones', async () => {
    await refuse(server, 'ann', [1], { clientID: 'elsewhere', clientGroupID: 'elsewhere', profileID: 'other' });
    await refuse(server, 'ben', [1], { clientID: 'b', clientGroupID: 'b' });
    const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
    await refuse(server, 'ann', ids(1, 100));
    const full = await pullRefused(server, 'ann');
    expect(keysIn(full.patch, 'put')).toHaveLength(100);
    await refuse(server, 'ann', ids(101, 103));
    const { patch } = await pullRefused(server, 'ann', { cookie: full.cookie });
    expect(keysIn(patch, 'del').toSorted()).toEqual(['client/1', 'client/2', 'client/3']);
    expect(keysIn(patch, 'put').toSorted()).toEqual(['client/101', 'client/102', 'client/103']);
    expect((await recorded()).filter((id) => !id.startsWith('ann/profile'))).toEqual([
      'ann/other/elsewhere/1',
      'ben/profile/b/1',
    ]);
  });

  it('replaces that of a deleted client with the same ID', async () => {
    await refuse(server, 'ann', [1]);
    await server.pool.query('delete from tidemark.client; delete from tidemark.client_group');
    expect((await push(server, 'ann', [mutation(1, 'zero', null)])).status).toBe(200);
    expect(await refusedOf(server, 'ann')).toMatchObject([{ mutationID: 1, name: 'zero', detail: 'As Zero refuses' }]);
  });

  it('is recorded by the server that pushes are forwarded to, and returned by both servers', async () => {
    const { rows } = await server.pool.query('select current_database() as name');
    const database = Object.assign(new URL(process.env.TIDEMARK_TEST_CLUSTER!), { pathname: rows[0].name }).href;
    const forward = { url: `${server.url}/sync/push` };
    const hook = vi.fn();
    const front = await createSync({ database, views, mutators, authenticate, log: silent, forward, onRefused: hook });
    try {
      const post = (path: string, body: unknown) =>
        front.fetch(
          new Request(`http://localhost${path}`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ann' },
            body: JSON.stringify(body),
          }),
        );
      const envelope = { clientGroupID: 'group', profileID: 'profile', schemaVersion: '' };
      const mutations = [mutation(1, 'refuse', 'No')];
      expect((await post('/sync/push', { pushVersion: 1, ...envelope, mutations })).status).toBe(200);
      const answer = await post('/sync/pull', { pullVersion: 1, ...envelope, cookie: null, refused: true });
      expect(keysIn((await answer.json()).patch, 'put')).toEqual(['client/1']);
      expect(await refusedOf(server, 'ann')).toMatchObject([{ mutationID: 1, detail: 'No' }]);
      expect([hookCalls.length, hook.mock.calls.length]).toEqual([1, 0]);
    } finally {
      await front.close();
    }
  });
});

describe('onRefused', () => {
  it('is called with each skipped mutation, after the commit', async () => {
    let seen: Promise<string[]> | undefined;
    onRefused = () => {
      seen = recorded();
    };
    const headers = { 'X-Sync-RequestID': 'request' };
    const body = {
      pushVersion: 1,
      clientGroupID: 'group',
      profileID: 'profile',
      schemaVersion: '',
      mutations: [mutation(1, 'refuse', 'No'), mutation(2, 'none\0such', null)],
    };
    expect((await send(server, '/sync/push', body, { headers })).status).toBe(200);
    const both = { context: { userID: 'ann' }, clientGroupID: 'group', clientID: 'client', requestID: 'request' };
    expect(hookCalls).toEqual([
      {
        ...both,
        mutationID: 1,
        name: 'refuse',
        code: 'mutator-error',
        error: expect.objectContaining({ status: 409 }),
      },
      { ...both, mutationID: 2, name: null, code: 'unknown-mutator', error: expect.any(Error) },
    ]);
    expect(await seen).toEqual(['ann/profile/client/1', 'ann/profile/client/2']);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the mail server is away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the mail server is away'))],
  ])('affects no client if it %s, which is logged', async (_, hook) => {
    onRefused = hook;
    await refuse(server, 'ann', [1, 2]);
    expect(await recorded()).toHaveLength(2);
    await vi.waitFor(() => {
      const failed = server.lines
        .filter(isError)
        .filter(({ message }) => message === 'The option onRefused has failed');
      expect(failed.map(({ fields }) => fields.error)).toEqual(
        [1, 2].map(() => expect.objectContaining({ message: 'the mail server is away' })),
      );
    });
  });

  it('does not delay the push', async () => {
    onRefused = () => new Promise(() => {});
    await refuse(server, 'ann', [1, 2]);
    expect(hookCalls).toHaveLength(2);
  });

  it('is not called for calls over REST, which are not recorded', async () => {
    expect((await send(server, '/api/mutators/zero', {})).status).toBe(400);
    expect([hookCalls, await recorded()]).toEqual([[], []]);
  });
});
