/** Views read over REST: the responses, their formats, and how callers learn that nothing has changed. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Cookie } from '../../../packages/tidemark/src/protocol/cookie.js';
import { toPathSegment } from '../../../packages/tidemark/src/protocol/path-segment.js';
import { cookieIn, tokenOf } from '../../../packages/tidemark/src/protocol/read-token.js';
import { applied, type Ops, serveViews, type Viewed } from './viewed.js';

let served: Viewed;
const get: Viewed['get'] = (...request) => served.get(...request);
const run = (text: string) => served.run(text);

beforeAll(async () => {
  served = await serveViews();
});
afterAll(() => served?.close());

beforeEach(async () => {
  await run(`
    truncate note, tag, price;
    insert into note values
      (2, 'ann', 'two', '{"a":\n[1,\r\n2]}', 9007199254740993), (1, 'ann', 'one, "1"', null, 1),
      (10, 'ann', 'ten', '",\\n,"', -1), (3, 'ben', 'canary of ben', null, null);
    insert into tag values (1, 'a/b', 'ann'), (1, '100%', 'ann'), (2, 'x', 'ann'), (3, 'canary of ben', 'ben')`);
});

const one = { id: 1, body: 'one, "1"', data: null, big: 1 };
const two = { id: 2, body: 'two', data: { a: [1, 2] }, big: '9007199254740993' };
const ten = { id: 10, body: 'ten', data: ',\n,', big: -1 };

const problemOf = async (response: Response) => {
  expect(response.headers.get('Content-Type')).toBe('application/problem+json');
  const { status, code } = (await response.json()) as { status: number; code: string };
  return [status, code];
};

const ops = async (path: string, headers = {}) => (await (await get(path, headers)).json()) as Ops;

describe('a view', () => {
  it('is listed with its key and its URL', async () => {
    const response = await get('/api/views');
    const { views } = (await response.json()) as { views: unknown[] };
    expect(views).toHaveLength(6);
    expect(views[0]).toEqual({
      name: 'note',
      key: ['id'],
      keys: 'note/{id}',
      prefix: 'note/',
      href: '/api/views/note',
    });
    expect(views[1]).toMatchObject({ key: ['note_id', 'name'] });
    expect(views[3]).toMatchObject({ href: '/api/views/odd%20~%2Fname' });
    const again = await get('/api/views', { 'If-None-Match': response.headers.get('ETag')! });
    expect(again.status).toBe(304);
  });

  it('is an array of the rows that the caller sees, in the order of their keys', async () => {
    const response = await get('/api/views/note');
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(response.headers.get('Cache-Control')).toBe('private, no-cache');
    expect(response.headers.get('Vary')).toBe('Accept, Accept-Encoding');
    expect(await response.json()).toEqual([one, ten, two]);
    expect(await (await get('/api/views/newest')).json()).toEqual([ten, two].map(({ id, body }) => ({ id, body })));
    expect(await (await get('/api/views/note', { Authorization: 'Bearer cam' })).json()).toEqual([]);
    expect(await (await get('/api/views/note', { Authorization: 'Bearer ben' })).json()).toEqual([
      { id: 3, body: 'canary of ben', data: null, big: null },
    ]);
  });

  it('has one row per line as NDJSON', async () => {
    const response = await get('/api/views/note', { Accept: 'application/x-ndjson' });
    expect(response.headers.get('Content-Type')).toBe('application/x-ndjson');
    const lines = (await response.text()).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([one, ten, two]);
    const none = await get('/api/views/note', { Accept: 'application/x-ndjson', Authorization: 'Bearer cam' });
    expect(await none.text()).toBe('');
  });

  it('depends on the profile and the schema version that the query names', async () => {
    const rows = async (query: string) => (await get(`/api/views/odd%20~%2Fname${query}`)).json();
    expect(await rows('')).toEqual([{ profile: '', version: '', owner: 'ann' }]);
    expect(await rows('?profileID=p&schemaVersion=2')).toEqual([{ profile: 'p', version: '2', owner: 'ann' }]);
    expect(await problemOf(await get(`/api/views/note?profileID=${'p'.repeat(300)}`))).toEqual([
      400,
      'malformed-request',
    ]);
  });

  it('is refused if it does not exist, without authentication, and with other methods', async () => {
    for (const path of ['nothing', 'note%2F1', 'constructor', '__proto__', '%ff', 'tidemark_1']) {
      expect(await problemOf(await get(`/api/views/${path}`))).toEqual([404, 'unknown-view']);
    }
    for (const path of ['', '/note', '/note/1', '/nothing']) {
      expect(await problemOf(await get(`/api/views${path}`, { Authorization: '' }))).toEqual([401, 'unauthenticated']);
    }
    const response = await get('/api/views/note', {}, { method: 'POST' });
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each(['', '/note', '/note/1', '/note?since=x', '/note/4'])(
    'is answered without a body by HEAD: /api/views%s',
    async (path) => {
      const [full, head] = [await get(`/api/views${path}`), await get(`/api/views${path}`, {}, { method: 'HEAD' })];
      expect([head.status, await head.text()]).toEqual([full.status, '']);
      expect(head.headers.get('Content-Type')).toBe(full.headers.get('Content-Type'));
      expect(head.headers.has('ETag')).toBe(full.headers.has('ETag'));
      await full.text();
    },
  );

  it('returns a valid entity tag by HEAD, opens no stream, and keeps no connection', async () => {
    await run(`insert into note select i, 'ann', repeat(i::text, 40), '[1,\n2]' from generate_series(1001, 4000) i`);
    const head = (headers = {}) => get('/api/views/note', headers, { method: 'HEAD' });
    for (let time = 0; time < 20; time++) expect((await head()).status).toBe(200);
    const tag = (await head()).headers.get('ETag')!;
    expect((await get('/api/views/note', { 'If-None-Match': tag })).status).toBe(304);
    const stream = await head({ Accept: 'text/event-stream' });
    expect([stream.status, stream.headers.get('Content-Type'), await stream.text()]).toEqual([
      200,
      'text/event-stream',
      '',
    ]);
  });

  it('is complete in every format with so many rows that they take several pieces', async () => {
    await run(`insert into note select i, 'dan', repeat(i::text, 40), '[1,\n2]' from generate_series(1001, 4000) i`);
    const headers = { Authorization: 'Bearer dan' };
    const expected = Array.from({ length: 3000 }, (_, i) => ({
      id: i + 1001, body: String(i + 1001).repeat(40), data: [1, 2], big: null,
    })).toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1)); // biome-ignore format: short
    expect(await (await get('/api/views/note', headers)).json()).toEqual(expected);
    const lines = await (await get('/api/views/note', { ...headers, Accept: 'application/x-ndjson' })).text();
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(expected);
    const rows = applied(new Map(), (await ops('/api/views/note?since=', headers)).patch);
    expect(new Map(expected.map((row) => [`note/${row.id}`, row]))).toEqual(rows);
  });
});

describe('a row', () => {
  it.each<[path: string, row: unknown]>([
    ['note/1', one],
    ['note/10', ten],
    ['tag/1/a%252Fb', { note_id: 1, name: 'a/b' }],
    ['tag/1%2F100%2525', { note_id: 1, name: '100%' }],
    ['newest/10', { id: 10, body: 'ten' }],
    ['odd%20~%2Fname/ann', { profile: '', version: '', owner: 'ann' }],
  ])('is found by its key: %s', async (path, row) => {
    const response = await get(`/api/views/${path}`);
    expect(await response.json()).toEqual(row);
    expect(response.headers.get('ETag')).toMatch(/^"[\w-]+"$/);
  });

  it.each(['note/3', 'note/4', 'note/~', 'note/x', 'note/01', 'note/1%20', 'note/99999999999', 'note/%00', 'newest/1'])(
    'is not found if the caller does not see it: %s',
    async (path) => {
      expect(await problemOf(await get(`/api/views/${path}`))).toEqual([404, 'unknown-key']);
    },
  );

  it.each(['tag/1', 'tag/1/a/b', 'tag/1/a%2Fb', 'tag/x/x', 'tag/3/canary%20of%20ben'])(
    'is not found by a composite key if the caller does not see it: %s',
    async (path) => {
      expect(await problemOf(await get(`/api/views/${path}`))).toEqual([404, 'unknown-key']);
    },
  );

  it.each(['', '.', '..', '~', '~..', '%2E%2E', '../note/1'])('is found by the key "%s"', async (key) => {
    await served.database.pool.query('update note set owner_id = $1 where id = 1', [key]);
    const response = await get(`/api/views/odd%20~%2Fname/${toPathSegment(key)}`);
    expect(await response.json()).toEqual({ profile: '', version: '', owner: key });
  });

  it.each(['note/..', 'note/%2E%2e', 'note/.', 'note/%2e', 'note/', 'tag/1/%2E%2E', 'tag/1/%2E', '', '%2E', '/note'])(
    'is refused under a path that URLs resolve to another one: %s',
    async (path) => {
      await run(`update note set owner_id = ''`);
      expect(await problemOf(await get(`/api/views/${path}`))).toEqual([400, 'malformed-request']);
    },
  );

  it('is the one that the view shows if rows share a key, and so are its changes', async () => {
    await run(`insert into price values ('a', 1, 'KG'), ('b', 1, 'l')`);
    expect(await (await get('/api/views/unit')).json()).toEqual([{ unit: 'KG' }, { unit: 'l' }]);
    expect(await (await get('/api/views/unit/KG')).json()).toEqual({ unit: 'KG' });
    expect((await get('/api/views/unit/kg')).status).toBe(404);
    const { cookie } = await ops('/api/views/unit/KG?since=');
    await run(`insert into price values ('c', 1, 'Kg'); delete from price where id = 'a'`);
    const { patch } = await ops(`/api/views/unit/KG?since=${cookie}`);
    expect(patch).toEqual([{ op: 'del', key: 'unit/KG' }]);
    expect((await get('/api/views/unit/KG')).status).toBe(404);
    expect((await get('/api/views/unit/Kg')).status).toBe(200);
  });

  it('is found by its number, regardless of how the database stores it', async () => {
    await run(`insert into price values ('a', 1.00), ('b', 2.0)`);
    expect(await (await get('/api/views/amount')).json()).toEqual([{ amount: 1 }, { amount: 2 }]);
    expect(await (await get('/api/views/amount/1')).json()).toEqual({ amount: 1 });
    expect((await get('/api/views/amount/1.00')).status).toBe(404);
    const { cookie } = await ops('/api/views/amount/1?since=');
    await run(`insert into price values ('c', 1.0)`);
    expect((await ops(`/api/views/amount/1?since=${cookie}`)).patch).toEqual([]);
    await run(`delete from price where amount = 1`);
    expect((await ops(`/api/views/amount/1?since=${cookie}`)).patch).toEqual([{ op: 'del', key: 'amount/1' }]);
    expect((await get('/api/views/amount/1')).status).toBe(404);
  });

  it('has its own cookie, which changes of other rows do not affect', async () => {
    const first = await get('/api/views/note/1');
    const condition = { 'If-None-Match': first.headers.get('ETag')! };
    await run(`update note set body = 'changed' where id = 2`);
    expect((await get('/api/views/note/1', condition)).status).toBe(304);
    await run(`update note set body = 'changed' where id = 1`);
    expect(await (await get('/api/views/note/1', condition)).json()).toEqual({ ...one, body: 'changed' });
    await run(`delete from note where id = 1`);
    expect((await get('/api/views/note/1', condition)).status).toBe(404);
    // The tag is not valid for another row, or for all rows.
    await run(`insert into note values (1, 'ann', 'one', null, 1)`);
    for (const path of ['note/2', 'note']) expect((await get(`/api/views/${path}`, condition)).status).toBe(200);
  });
});

describe('an entity tag', () => {
  it('is answered with 304 until something changes for the caller', async () => {
    const first = await get('/api/views/note');
    const tag = first.headers.get('ETag')!;
    expect(tag).toMatch(/^"[\w-]+"$/);
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`]) {
      const again = await get('/api/views/note', { 'If-None-Match': header });
      expect([again.status, await again.text()]).toEqual([304, '']);
      expect(again.headers.get('ETag')!.replace('W/', '')).toBe(tag);
    }
    // A row of the same table, but not of the caller.
    await run(`update note set body = 'new' where id = 3`);
    expect((await get('/api/views/note', { 'If-None-Match': tag })).status).toBe(304);
    await run(`update note set body = 'new' where id = 1`);
    const changed = await get('/api/views/note', { 'If-None-Match': tag });
    expect(await changed.json()).toEqual([{ ...one, body: 'new' }, ten, two]);
    expect(changed.headers.get('ETag')).not.toBe(tag);
  });

  it('differs between formats, and is weak for compressed responses', async () => {
    await run(`insert into note select i, 'ann', repeat('long', 100) from generate_series(100, 200) i`);
    const tagOf = async (headers: Record<string, string>) =>
      (await get('/api/views/note', headers)).headers.get('ETag')!;
    const [array, lines, gzip] = [
      await tagOf({}),
      await tagOf({ Accept: 'application/x-ndjson' }),
      await tagOf({ 'Accept-Encoding': 'gzip' }),
    ];
    expect(lines).not.toBe(array);
    expect(array).toMatch(/^"/);
    expect(gzip).toMatch(/^W\/"/);
    const statusOf = async (headers: Record<string, string>) => (await get('/api/views/note', headers)).status;
    expect(await statusOf({ 'If-None-Match': gzip })).toBe(304);
    expect(await statusOf({ 'If-None-Match': array, 'Accept-Encoding': 'gzip' })).toBe(304);
    expect(await statusOf({ 'If-None-Match': lines })).toBe(200);
    expect(await statusOf({ 'If-None-Match': lines, Accept: 'application/x-ndjson' })).toBe(304);
    expect(await statusOf({ 'If-None-Match': `${lines}, ${array}` })).toBe(304);
    expect(await statusOf({ 'If-None-Match': array, Accept: 'application/x-ndjson' })).toBe(200);
  });

  it('grows by a few bytes with the transactions in progress', async () => {
    const lengthOf = async () => (await get('/api/views/note')).headers.get('ETag')!.length;
    const before = await lengthOf();
    const clients = Array.from({ length: 40 }, () => new pg.Client(served.database.url));
    for (const client of clients) {
      await client.connect();
      await client.query('begin; select pg_current_xact_id()');
    }
    // The snapshot in a cookie ends with the newest transaction that has left something.
    await run(`update note set body = body where id = 1`);
    expect((await lengthOf()) - before).toBeLessThan(60);
    await Promise.all(clients.map((client) => client.end()));
  });

  it('matches any rows if it is *', async () => {
    const response = await get('/api/views/note', { 'If-None-Match': '*' });
    expect([response.status, await response.text()]).toEqual([304, '']);
    expect((await get('/api/views/note/4', { 'If-None-Match': '*' })).status).toBe(404);
  });

  it.each(['"x"', 'x', '""', '"W10"', '"eyJ9"'])('is ignored if it is invalid: %s', async (tag) => {
    expect((await get('/api/views/note', { 'If-None-Match': tag })).status).toBe(200);
  });

  it('is not valid for another user who sees the same rows', async () => {
    await run(`insert into price values ('a', 1)`);
    const tag = (await get('/api/views/amount')).headers.get('ETag')!;
    const other = await get('/api/views/amount', { 'If-None-Match': tag, Authorization: 'Bearer ben' });
    expect(other.status).toBe(200);
  });
});

describe('a request for changes since a cookie', () => {
  it('gets ops instead of rows', async () => {
    const start = await ops('/api/views/note?since=');
    expect(start.patch[0]).toEqual({ op: 'clear' });
    expect(applied(new Map(), start.patch)).toEqual(new Map([one, two, ten].map((row) => [`note/${row.id}`, row])));
    expect(await ops(`/api/views/note?since=${start.cookie}`)).toEqual({ cookie: start.cookie, patch: [] });
    await run(`update note set body = 'new' where id = 1; delete from note where id = 2`);
    const next = await ops(`/api/views/note?since=${start.cookie}`);
    expect(next.patch).toHaveLength(2);
    expect(next.patch).toContainEqual({ op: 'put', key: 'note/1', value: { ...one, body: 'new' } });
    expect(next.patch).toContainEqual({ op: 'del', key: 'note/2' });
    expect(await ops(`/api/views/note?since=${next.cookie}`)).toEqual({ cookie: next.cookie, patch: [] });
  });

  it('may name the entity tag of rows', async () => {
    for (const Accept of ['application/json', 'application/x-ndjson']) {
      const tag = (await get('/api/views/note', { Accept })).headers.get('ETag')!;
      await run(`update note set body = body || '+' where id = 1`);
      for (const since of [tag, `W/${tag}`]) {
        const { patch } = await ops(`/api/views/note?since=${encodeURIComponent(since)}`);
        expect(patch.map(({ op }) => op)).toEqual(['put']);
      }
    }
  });

  it.each(['x', '"x"', 'W10', 'eyJ9', '{}'])('gets a clear and all rows for the invalid cookie %s', async (since) => {
    const { patch, cookie } = await ops(`/api/views/note?since=${encodeURIComponent(since)}`);
    expect(patch.map(({ op }) => op)).toEqual(['clear', 'put', 'put', 'put']);
    expect((await ops(`/api/views/note?since=${cookie}`)).patch).toEqual([]);
  });

  it('gets a clear and the rows of the caller for a cookie of another view, row or user', async () => {
    const { cookie } = await ops('/api/views/note?since=');
    const canary = /canary/;
    for (const [path, headers] of [
      ['newest', {}],
      ['note/1', {}],
      ['note', { Authorization: 'Bearer cam' }],
    ] as const) {
      const response = await get(`/api/views/${path}?since=${cookie}`, headers);
      const text = await response.text();
      expect(text).not.toMatch(canary);
      expect((JSON.parse(text) as Ops).patch[0]).toEqual({ op: 'clear' });
    }
  });

  it('gets a clear and all rows for a modified cookie', async () => {
    const { cookie } = await ops('/api/views/note?since=');
    const fields = cookieIn(cookie) as Cookie;
    const { clientGroupID: _, mutations: __, consistencyCheck: ___, ...others } = fields;
    for (const name of Object.keys(others)) {
      const token = tokenOf({ ...fields, [name]: name === 'order' ? 1 : '1:1:' });
      expect((await ops(`/api/views/note?since=${token}`)).patch[0]).toEqual({ op: 'clear' });
    }
  });

  it('gets only a clear after a TRUNCATE', async () => {
    const { cookie } = await ops('/api/views/note?since=');
    await run('truncate note');
    expect((await ops(`/api/views/note?since=${cookie}`)).patch).toEqual([{ op: 'clear' }]);
  });

  it('gets a cookie with which a pull of a sync client starts over', async () => {
    const { cookie } = await ops('/api/views/note?since=');
    const body = { pullVersion: 1, clientGroupID: 'g', profileID: '', schemaVersion: '', cookie: cookieIn(cookie) };
    const pulled = await served.sync.fetch(
      new Request('http://localhost/sync/pull', {
        method: 'POST',
        headers: { Authorization: 'Bearer ann', 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    const { patch } = (await pulled.json()) as Ops;
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(patch.filter((op) => 'key' in op && op.key.startsWith('tag/'))).toHaveLength(3);
  });
});

it('views are not served if REST is switched off', async () => {
  const closed = await serveViews({ rest: false });
  try {
    for (const path of ['', '/note', '/note/1']) expect((await closed.get(`/api/views${path}`)).status).toBe(404);
  } finally {
    await closed.close();
  }
});

it('unknown schema versions are refused, and the first one is the default', async () => {
  const versioned = await serveViews({ schemaVersions: ['7', '8'] });
  try {
    await versioned.run(`insert into note values (1, 'ann', '')`);
    const rows = await versioned.get('/api/views/odd%20~%2Fname');
    expect(await rows.json()).toEqual([{ profile: '', version: '7', owner: 'ann' }]);
    expect((await versioned.get('/api/views/note?schemaVersion=8')).status).toBe(200);
    expect(await problemOf(await versioned.get('/api/views/note?schemaVersion=9'))).toEqual([400, 'malformed-request']);
  } finally {
    await versioned.close();
  }
});
