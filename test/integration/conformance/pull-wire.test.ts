/** The pull endpoint's rules, one by one, without the sync client. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from './server.js';
import { mutation, type PullAnswer, pull, pullBody, push, send } from './wire.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ schemaVersions: ['', '7'] });
  await server.pool.query(`
    insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries'), ('b', 'ben', 'Garden');
    insert into todo (id, list_id, title, sort) values ('a1', 'a', 'Milk', 1), ('b1', 'b', 'Rake', 1)`);
});

afterAll(() => server.close());

const annsPatch = [
  { op: 'put', key: 'list/a', value: { id: 'a', name: 'Groceries', ownerID: 'ann' } },
  { op: 'put', key: 'todo/a1', value: { id: 'a1', listID: 'a', title: 'Milk', done: false, sort: 1 } },
];

/** Records a client group by one mutation of its client. Returns the client's ID. */
async function recordGroup(clientGroupID: string, user = 'ann'): Promise<string> {
  const clientID = `client of ${clientGroupID}`;
  const list = { id: `list of ${clientGroupID}`, name: 'Made by a push' };
  const answer = await push(server, user, [mutation(1, 'list.create', list, clientID)], { clientGroupID });
  expect(answer).toMatchObject({ status: 200, text: '{}' });
  await server.pool.query('delete from list where id = $1', [list.id]);
  return clientID;
}

describe('a request', () => {
  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('with the method %s is answered with 405', async (method) => {
    const answer = await send(server, '/sync/pull', undefined, { method });
    expect(answer).toMatchObject({ status: 405, body: { code: 'method-not-allowed' } });
    expect(answer.headers.get('Allow')).toBe('POST');
  });

  it.each([0, 2, 1.5])('with a pullVersion of %s is not supported', async (pullVersion) => {
    const answer = await send(server, '/sync/pull', pullBody({ pullVersion }));
    expect(answer).toMatchObject({ status: 200, body: { error: 'VersionNotSupported', versionType: 'pull' } });
  });

  it.each([0, 2, 1.5])('with a pushVersion of %s is not supported, and applies nothing', async (pushVersion) => {
    const clientGroupID = `push version ${pushVersion}`;
    const answer = await push(server, 'ann', [mutation(1, 'list.create', { id: 'x', name: 'x' })], {
      pushVersion,
      clientGroupID,
    });
    expect(answer).toMatchObject({ status: 200, body: { error: 'VersionNotSupported', versionType: 'push' } });
    expect((await server.pool.query("select from list where id = 'x'")).rowCount).toBe(0);
  });

  it('with a schemaVersion that the application does not serve is not supported', async () => {
    const refused = { status: 200, body: { error: 'VersionNotSupported', versionType: 'schema' } };
    expect(await send(server, '/sync/pull', pullBody({ schemaVersion: '8' }))).toMatchObject(refused);
    expect(await push(server, 'ann', [], { schemaVersion: '8' })).toMatchObject(refused);
    expect((await pull(server, 'ann', { schemaVersion: '7' })).patch).toEqual(annsPatch);
  });

  it.each([null, 'Nobody!', ''])('with the user %j, who is unknown, is answered with 401', async (user) => {
    const answer = await send(server, '/sync/pull', pullBody(), { user });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
  });

  it("for another user's client group is refused, and the answer contains nothing of that user", async () => {
    await recordGroup('group of ann');
    const { cookie: theirs } = await pull(server, 'ann', { clientGroupID: 'group of ann' });
    const { cookie: own } = await pull(server, 'ben', { clientGroupID: 'group of ben' });
    for (const cookie of [null, theirs, own, 'x']) {
      const body = pullBody({ clientGroupID: 'group of ann', cookie });
      const answer = await send(server, '/sync/pull', body, { user: 'ben' });
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(answer.text).not.toMatch(/Groceries|Milk|client of/);
    }
  });

  it.each(['X-Sync-RequestID', 'X-Replicache-RequestID'])(
    'with %s has this ID in every log line and in its error',
    async (header) => {
      const requestID = `client-${header}-0`;
      const before = server.lines.length;
      const options = { headers: { [header]: requestID } };
      const good = await send(server, '/sync/pull', pullBody({ cookie: 'unknown' }), options);
      const bad = await send(server, '/sync/pull', '{', options);
      const lost = await send(server, '/sync/pull', pullBody({ clientID: 'gone', lastMutationID: 5 }), options);
      expect(good.headers.get('X-Request-ID')).toBe(requestID);
      expect(bad).toMatchObject({ status: 400, body: { requestID } });
      expect(lost).toMatchObject({ status: 500, body: { requestID } });
      const lines = server.lines.slice(before);
      const messages = ['The client is reset', 'Request', 'Request', 'A request failed', 'Request'];
      expect(lines.map((line) => line.message)).toEqual(messages);
      expect(lines.filter((line) => line.fields.requestID !== requestID)).toEqual([]);
    },
  );
});

describe('the first pull', () => {
  it('returns all data and no clear for a null cookie', async () => {
    const { patch, lastMutationIDChanges, cookie } = await pull(server, 'ann');
    expect(patch).toEqual(annsPatch);
    expect(lastMutationIDChanges).toEqual({});
    expect(Number.isSafeInteger(cookie.order)).toBe(true);
  });

  it('of a user without data returns an empty patch and a valid cookie', async () => {
    const { patch, cookie } = await pull(server, 'cam');
    expect(patch).toEqual([]);
    expect(await pull(server, 'cam', { cookie })).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
  });
});

describe('a cookie of one client group', () => {
  it('yields byte-equal patches for two client groups', async () => {
    const { cookie } = await pull(server, 'ann', { clientGroupID: 'one' });
    await server.pool.query("update todo set done = not done where id = 'a1'");
    const [one, two] = await Promise.all(
      ['one', 'two'].map((clientGroupID) => send(server, '/sync/pull', pullBody({ clientGroupID, cookie }))),
    );
    const patchText = (text: string) => text.slice(text.indexOf('"patch":'));
    expect(patchText(one!.text)).toContain('"key":"todo/a1"');
    expect(patchText(two!.text)).toBe(patchText(one!.text));
    await server.pool.query("update todo set done = false where id = 'a1'");
  });

  it('yields a delta, or the identical cookie, for another client group of the user', async () => {
    const { cookie } = await pull(server, 'ann', { clientGroupID: 'old' });
    expect(await pull(server, 'ann', { clientGroupID: 'new', cookie })).toEqual({
      cookie,
      lastMutationIDChanges: {},
      patch: [],
    });
    await server.pool.query("update todo set title = 'Oats' where id = 'a1'");
    const delta = await pull(server, 'ann', { clientGroupID: 'new', cookie });
    expect(delta.patch).toMatchObject([{ op: 'put', key: 'todo/a1', value: { title: 'Oats' } }]);
    await server.pool.query("update todo set title = 'Milk' where id = 'a1'");
  });
});

describe('a pull with nothing new', () => {
  it("returns the identical cookie while only others' rows change, until that would be expensive", async () => {
    const { cookie } = await pull(server, 'ann');
    for (let i = 0; i < 5; i++) {
      await server.pool.query('update todo set sort = sort + 1 where id = $1', ['b1']);
      expect(await pull(server, 'ann', { cookie })).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
    }
    await server.pool.query(
      "insert into todo (id, list_id, title, sort) select 'n' || n, 'b', '', n from generate_series(1, 200) n",
    );
    const moved = await pull(server, 'ann', { cookie });
    expect(moved).toEqual({ cookie: moved.cookie, lastMutationIDChanges: {}, patch: [] });
    expect(moved.cookie.order).toBeGreaterThan(cookie.order as number);
    await server.pool.query("delete from todo where list_id = 'b' and id like 'n%'");
  });

  it('returns the identical cookie if a change was undone before it', async () => {
    const { cookie } = await pull(server, 'ann');
    await server.pool.query("update todo set done = true where id = 'a1'");
    await server.pool.query("update todo set done = false where id = 'a1'");
    expect(await pull(server, 'ann', { cookie })).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
  });
});

describe('the mutation IDs in a pull', () => {
  const clientGroupID = 'mutating';
  const create = (id: number, clientID: string) =>
    mutation(id, 'list.create', { id: `${clientID}${id}`, name: 'New' }, clientID);
  const pullOn = (last: PullAnswer) => pull(server, 'ann', { clientGroupID, cookie: last.cookie });

  it('are those that changed since the cookie, in the snapshot of the data', async () => {
    await push(server, 'ann', [create(1, 'p'), create(1, 'q')], { clientGroupID });
    const first = await pull(server, 'ann', { clientGroupID });
    expect(first.lastMutationIDChanges).toEqual({ p: 1, q: 1 });
    expect((await pullOn(first)).lastMutationIDChanges).toEqual({});
    await push(server, 'ann', [create(1, 'p'), create(2, 'q')], { clientGroupID });
    const second = await pullOn(first);
    expect(second.lastMutationIDChanges).toEqual({ q: 2 });
    expect(second.patch).toMatchObject([{ op: 'put', key: 'list/q2' }]);
  });

  it('change the cookie even if a mutation has no effect on the view', async () => {
    const before = await pull(server, 'ann', { clientGroupID });
    await push(server, 'ann', [mutation(3, 'no.such.mutator', null, 'q')], { clientGroupID });
    const after = await pullOn(before);
    expect(after).toMatchObject({ lastMutationIDChanges: { q: 3 }, patch: [] });
    expect(after.cookie.order).toBeGreaterThan(before.cookie.order as number);
  });

  it('never arrive without the effects of their mutations, while pushes and pulls race', async () => {
    let pushing = true;
    const pushes = (async () => {
      for (let id = 4; id <= 60; id++) await push(server, 'ann', [create(id, 'q')], { clientGroupID });
      pushing = false;
    })();
    let last = await pull(server, 'ann', { clientGroupID });
    while (pushing) {
      const next = await pullOn(last);
      const lastMutationID = next.lastMutationIDChanges.q;
      const created = next.patch.flatMap((op) => (op.op === 'put' ? [Number(op.key.slice('list/q'.length))] : []));
      expect(Math.max(0, ...created)).toBe(lastMutationID ?? 0);
      last = next;
    }
    await pushes;
  });

  it('do not include those of another client group', async () => {
    expect((await pull(server, 'ann', { clientGroupID: 'quiet' })).lastMutationIDChanges).toEqual({});
  });
});

describe('a request that names its client', () => {
  it('returns the mutation ID 0 if the client is unknown and has no mutations', async () => {
    const first = await pull(server, 'cam', { clientID: 'fresh', lastMutationID: 0 });
    expect(first.lastMutationIDChanges).toEqual({ fresh: 0 });
    const again = await pull(server, 'cam', { clientID: 'fresh', lastMutationID: 0, cookie: first.cookie });
    expect(again).toMatchObject({ lastMutationIDChanges: { fresh: 0 }, patch: [] });
    expect(again.cookie.order).toBeGreaterThan(first.cookie.order as number);
  });

  it('is answered with 500 if the client has mutations, but its record is lost', async () => {
    const first = await pull(server, 'ann', { clientGroupID: 'lost' });
    for (const cookie of [null, first.cookie, 'unusable']) {
      const body = pullBody({ clientGroupID: 'lost', clientID: 'gone', lastMutationID: 5, cookie });
      const answer = await send(server, '/sync/pull', body);
      expect(answer).toMatchObject({ status: 500, body: { code: 'client-record-lost' } });
    }
  });

  it('is answered as usual if the client is known', async () => {
    const clientID = await recordGroup('named');
    const first = await pull(server, 'ann', { clientGroupID: 'named', clientID, lastMutationID: 1 });
    expect(first.lastMutationIDChanges).toEqual({ [clientID]: 1 });
    const { cookie } = first;
    expect(await pull(server, 'ann', { clientGroupID: 'named', clientID, lastMutationID: 1, cookie })).toEqual({
      cookie,
      lastMutationIDChanges: {},
      patch: [],
    });
  });

  it('treats a client that is known only in another client group as unknown', async () => {
    const clientID = await recordGroup('its own');
    const fresh = await pull(server, 'ann', { clientGroupID: 'not its own', clientID, lastMutationID: 0 });
    expect(fresh.lastMutationIDChanges).toEqual({ [clientID]: 0 });
    for (const cookie of [null, fresh.cookie]) {
      const body = pullBody({ clientGroupID: 'not its own', clientID, lastMutationID: 1, cookie });
      expect(await send(server, '/sync/pull', body)).toMatchObject({
        status: 500,
        body: { code: 'client-record-lost' },
      });
    }
  });

  it('is malformed with only one of clientID and lastMutationID', async () => {
    for (const half of [{ clientID: 'c' }, { lastMutationID: 3 }]) {
      expect(await send(server, '/sync/pull', pullBody(half))).toMatchObject({ status: 400 });
    }
  });
});
