/** Clients that request refusals receive those of their user and profile. Nothing changes for other clients. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { createSync, defineView } from '../../../packages/tidemark/src/index.js';
import { pruneRefusals } from '../../../packages/tidemark/src/store/refusals.js';
import { memoryLog } from '../../support/log.js';
import { keysIn, pullRefused, refuse, refusedOf, serveRefusing, views } from '../writes/refused.js';
import type { TestServer } from './server.js';
import { pull, pullBody, send } from './wire.js';

let server: TestServer;
beforeAll(async () => {
  server = await serveRefusing();
});
afterAll(() => server.close());
beforeEach(async () => {
  server.lines.length = 0;
  await server.pool.query('delete from item; delete from tidemark.refusal');
  await server.pool.query('delete from tidemark.client; delete from tidemark.client_group');
});

const databaseURL = async () => {
  const { rows } = await server.pool.query<{ name: string }>('select current_database() as name');
  return Object.assign(new URL(process.env.TIDEMARK_TEST_CLUSTER!), { pathname: rows[0]!.name }).href;
};

const other = { clientGroupID: 'other group', clientID: 'other client' };
const reasons = () =>
  server.lines.filter(({ message }) => message === 'The client is reset').map(({ fields }) => fields.reason);

describe('clients that request refusals', () => {
  it('receive each refusal once, in a delta, together with its confirmation', async () => {
    const first = await pullRefused(server, 'ann');
    await refuse(server, 'ann', [1, 2]);
    const delta = await pullRefused(server, 'ann', { cookie: first.cookie });
    expect(delta.lastMutationIDChanges).toEqual({ client: 2 });
    expect(delta.patch.map(({ op }) => op)).toEqual(['put', 'put']);
    expect(keysIn(delta.patch, 'put').toSorted()).toEqual(['client/1', 'client/2']);
    const again = await pullRefused(server, 'ann', { cookie: delta.cookie });
    expect(again).toEqual({ cookie: delta.cookie, lastMutationIDChanges: {}, patch: [] });
    expect(reasons()).toEqual([]);
  });

  it('receive those of other groups of the profile, but not those of other profiles or users', async () => {
    const pullAs = (user: string, fields: object) => pullRefused(server, user, { ...fields });
    const callers: [user: string, fields: object][] = [
      ['ann', { clientGroupID: 'g1' }],
      ['ann', { clientGroupID: 'g2', profileID: 'second' }],
      ['ben', { clientGroupID: 'g3' }],
    ];
    const before = await Promise.all(callers.map(([user, fields]) => pullAs(user, fields)));
    await refuse(server, 'ann', [1], other);
    const after = await Promise.all(
      callers.map(([user, fields], i) => pullAs(user, { ...fields, cookie: before[i]!.cookie })),
    );
    expect(after.map(({ patch }) => keysIn(patch, 'put'))).toEqual([['other client/1'], [], []]);
    const fresh = await Promise.all(callers.map(([user, fields]) => refusedOf(server, user, { ...fields })));
    expect(fresh.map(({ length }) => length)).toEqual([1, 0, 0]);
  });

  it('receive their deletion after a day, which other clients do not notice', async () => {
    await refuse(server, 'ann', [1, 2]);
    const [asking, silent] = [await pullRefused(server, 'ann'), await pull(server, 'ann')];
    await server.pool.query(`
      update tidemark.refusal set at = to_char(
        now() at time zone 'UTC' - interval '24 hours' + case mutation_id when 1 then -1 else 1 end * interval '1 minute',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
    const db = openPool(await databaseURL());
    await pruneRefusals(db);
    await db.close();
    const { patch } = await pullRefused(server, 'ann', { cookie: asking.cookie });
    expect(keysIn(patch, 'del')).toEqual(['client/1']);
    expect(keysIn(patch, 'put')).toEqual(['client/2']);
    expect((await pull(server, 'ann', { cookie: silent.cookie })).cookie).toEqual(silent.cookie);
    expect(reasons()).toEqual([]);
  });

  it('can share cookies with clients that do not: a pull adds the refusals, or deletes them', async () => {
    await refuse(server, 'ann', [1]);
    const [asking, silent] = [await pullRefused(server, 'ann'), await pull(server, 'ann')];
    const now = await pullRefused(server, 'ann', { cookie: silent.cookie });
    expect(now.patch).toHaveLength(1);
    expect(keysIn(now.patch, 'put')).toEqual(['client/1']);
    const noMore = await pull(server, 'ann', { cookie: asking.cookie });
    expect(noMore.patch).toHaveLength(1);
    expect(keysIn(noMore.patch, 'del')).toEqual(['client/1']);
    expect(reasons()).toEqual([]);
  });

  it('get 400 if `refused` is neither true nor false', async () => {
    for (const refused of ['true', 1, null, {}]) {
      const { status, body } = await send(server, '/sync/pull', pullBody({ refused }));
      expect([status, body.detail]).toEqual([400, 'refused must be true or false']);
    }
  });
});

describe('clients that do not request refusals', () => {
  it('get the same bytes as without refusals', async () => {
    const empty = await pull(server, 'ann', { clientGroupID: 'g' });
    const before = await send(server, '/sync/pull', pullBody({ clientGroupID: 'g', cookie: empty.cookie }));
    await refuse(server, 'ann', [1], other);
    const after = await send(server, '/sync/pull', pullBody({ clientGroupID: 'g', cookie: empty.cookie }));
    expect(after.text).toBe(before.text);
    const no = await send(server, '/sync/pull', pullBody({ clientGroupID: 'g', cookie: empty.cookie, refused: false }));
    expect(no.text).toBe(before.text);
    const own = await pull(server, 'ann', { clientGroupID: 'other group', cookie: empty.cookie });
    expect([own.lastMutationIDChanges, own.patch]).toEqual([{ 'other client': 1 }, []]);
    expect(own.cookie.views).toBe(empty.cookie.views);
  });

  it('are served while refusals are not captured, and clients that request them get 503', async () => {
    const { cookie } = await pullRefused(server, 'ann');
    await server.pool.query('alter table tidemark.refusal disable trigger tidemark_insert');
    await refuse(server, 'ann', [1]);
    const asking = () => send(server, '/sync/pull', pullBody({ cookie, refused: true }));
    await expect.poll(async () => (await asking()).status, { timeout: 10_000 }).toBe(503);
    expect((await pull(server, 'ann')).lastMutationIDChanges).toEqual({ client: 1 });
    await server.pool.query('alter table tidemark.refusal enable always trigger tidemark_insert');
    await expect.poll(async () => (await asking()).status, { timeout: 10_000 }).toBe(200);
    expect(keysIn((await pullRefused(server, 'ann', { cookie })).patch, 'put')).toEqual(['client/1']);
  });
});

describe('an application with prefixes of its own', () => {
  const options = async (prefix: string, name = 'item') => ({
    database: await databaseURL(),
    views: { [name]: { ...views.item, prefix } },
    authenticate: () => ({ userID: 'ann' }),
    log: memoryLog().log,
  });

  it.each([
    ['tidemark/', 'item'],
    ['tidemark/refused/', 'item'],
    ['item/', 'tidemark/refused'],
  ])('is not started if keys or names begin with "tidemark/": prefix %s, view %s', async (prefix, name) => {
    await expect(createSync(await options(prefix, name))).rejects.toThrow(
      `The view "${name}" cannot be served: names and keys that begin with "tidemark/" are reserved.`,
    );
  });

  it.each(['', 't', 'tidemark'])(
    'serves no refusals if its keys could be among theirs: prefix "%s"',
    async (prefix) => {
      const { log, lines } = memoryLog();
      const sync = await createSync({ ...(await options(prefix)), log });
      try {
        const status = async (fields: object) => {
          const headers = { 'Content-Type': 'application/json' };
          const body = JSON.stringify(pullBody({ ...fields }));
          const request = new Request('http://localhost/sync/pull', { method: 'POST', headers, body });
          return (await sync.fetch(request)).status;
        };
        expect(await status({})).toBe(200);
        expect(await status({ refused: true })).toBe(503);
        expect(JSON.stringify(lines)).toContain('could share keys');
      } finally {
        await sync.close();
      }
    },
  );

  it('may have a view whose name only resembles the reserved prefix', async () => {
    const view = defineView({ query: () => ({ text: 'select id from item', values: [] }), key: 'id' });
    const sync = await createSync({ ...(await options('x')), views: { tidemarks: view } });
    await sync.close();
  });
});
