/** Input that no sync client sends. The server answers with a clear error, and advances nothing that it should not. */
import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sendBytes } from '../rest/sent.js';
import { startServer, type TestServer } from './server.js';
import { mutation, pull, pullBody, push, pushBody, send } from './wire.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ limits: { pull: 100_000, push: 200_000 } });
  await server.pool.query("insert into list (id, owner_id, name) values ('a', 'ann', 'Groceries')");
});

afterAll(() => server.close());

/** After any input, the server still answers and has recorded no client and no data. */
afterEach(async () => {
  expect((await pull(server, 'ann')).patch).toEqual([
    { op: 'put', key: 'list/a', value: { id: 'a', name: 'Groceries', ownerID: 'ann' } },
  ]);
  expect((await server.pool.query('select from tidemark.client')).rowCount).toBe(0);
});

const json = JSON.stringify;
const create = mutation(1, 'list.create', { id: 'x', name: 'x' });
const paths = ['/sync/pull', '/sync/push'];
const goodBody = (path: string) => (path === '/sync/pull' ? pullBody() : pushBody([create]));

describe.each(paths)('%s', (path) => {
  it.each([
    ['a missing body', ''],
    ['half a body', '{"pullVersion":1,'],
    ['two values', '{} {}'],
    ['a comment', '{} // no'],
    ['text that is not JSON', 'pullVersion=1'],
    ['a number that is NaN', '{"pullVersion":NaN}'],
    ['null', 'null'],
    ['an array', '[]'],
    ['a string', '"{}"'],
    ['a number', '1'],
    ['an empty object', '{}'],
    ['inherited fields only', '{"__proto__":{"pullVersion":1,"pushVersion":1}}'],
    ['arrays nested 40,000 deep', '['.repeat(40_000) + ']'.repeat(40_000)],
  ])('answers 400 to %s', async (_, body) => {
    const answer = await send(server, path, body || undefined);
    expect(answer).toMatchObject({ status: 400, body: { code: 'malformed-request', requestID: expect.any(String) } });
    expect(answer.headers.get('Content-Type')).toBe('application/problem+json');
  });

  const wrong: [string, unknown][] = [
    ['clientGroupID', 7],
    ['clientGroupID', ''],
    ['clientGroupID', 'x'.repeat(300)],
    ['clientGroupID', 'a\u0000b'],
    ['clientGroupID', '\ud800'],
    ['clientGroupID', { toString: 'x' }],
    ['profileID', null],
    ['profileID', ['p']],
    ['schemaVersion', 1],
    ['schemaVersion', '\udfff'],
    ['pullVersion', '1'],
    ['pushVersion', null],
    ['mutations', {}],
    ['mutations', [null]],
    ['mutations', [{ ...create, id: '1' }]],
    ['mutations', [{ ...create, id: 0 }]],
    ['mutations', [{ ...create, id: -1 }]],
    ['mutations', [{ ...create, id: 1.5 }]],
    ['mutations', [{ ...create, name: 7 }]],
    ['mutations', [{ ...create, clientID: '' }]],
    ['mutations', [{ ...create, clientID: 'a\u0000b' }]],
    ['mutations', [{ ...create, timestamp: 'now' }]],
    ['mutations', [create, { ...create, id: 2, clientID: null }]],
  ];
  it.each(wrong.filter(([field]) => field in goodBody(path)))(
    'answers 400, naming the field, to a %s of %j',
    async (field, value) => {
      const answer = await send(server, path, { ...goodBody(path), [field]: value });
      expect(answer).toMatchObject({ status: 400, body: { code: 'malformed-request' } });
      expect(answer.body.detail).toContain(field);
    },
  );

  it('requires each field', async () => {
    for (const field of Object.keys(goodBody(path))) {
      const answer = await send(server, path, { ...goodBody(path), [field]: undefined });
      expect(answer).toMatchObject({ status: 400, body: { code: 'malformed-request' } });
      expect(answer.body.detail).toContain(field);
    }
  });

  it('answers 400 to bytes that are not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from(json(goodBody(path)).slice(0, -2)), Buffer.from([0xff, 0xfe])]);
    const response = await fetch(server.url + path, { method: 'POST', headers: annsHeaders, body });
    expect(response.status).toBe(400);
  });

  it('answers 413 to a body over the limit, with a declared length or in chunks', async () => {
    const body = json({ ...goodBody(path), padding: 'x'.repeat(300_000) });
    expect(await send(server, path, body)).toMatchObject({ status: 413, body: { code: 'body-too-large' } });
    // The connection stays open, so each request would encounter what the previous one left on it.
    for (let i = 0; i < 5; i++) expect(await sendInChunks(path, body)).toBe(413);
  });

  it.each([
    [{ 'Content-Type': 'text/plain' }],
    [{ 'Content-Type': 'application/x-www-form-urlencoded' }],
    [{ 'Content-Type': 'application/json; charset=utf-16' }],
    [{ 'Content-Encoding': 'gzip' }],
  ])('answers 415 to the headers %j', async (headers) => {
    expect(await send(server, path, goodBody(path), { headers })).toMatchObject({
      status: 415,
      body: { code: 'unsupported-media-type' },
    });
  });

  it.each(['GET', 'PUT', 'DELETE'])('answers 405 to the method %s', async (method) => {
    const answer = await send(server, path, method === 'GET' ? undefined : goodBody(path), { method });
    expect(answer).toMatchObject({ status: 405, body: { code: 'method-not-allowed' } });
  });

  it('answers 401 to a request without a user, whatever else is wrong', async () => {
    expect(await send(server, path, '{', { user: null })).toMatchObject({ status: 401 });
  });
});

it.each([
  '/',
  '/sync',
  '/sync/',
  '/sync/pull/',
  '/sync/Pull',
  '/sync/pokes',
  '/sync/__proto__',
  '/sync/pull%00',
  '/..%2f',
])('the path %s is answered with 404', async (path) => {
  expect(await send(server, path, pullBody())).toMatchObject({ status: 404, body: { code: 'not-found' } });
});

it('a mutation ID that leaves a gap, or is not a safe integer, advances nothing', async () => {
  expect(await push(server, 'ann', [{ ...create, id: 5 }])).toMatchObject({ body: { error: 'ClientStateNotFound' } });
  for (const id of ['9007199254740993', '1e400', '1e16']) {
    const body = json(pushBody([create])).replace('"id":1', `"id":${id}`);
    expect(await send(server, '/sync/push', body)).toMatchObject({ status: 400 });
  }
});

it('a long request ID that is not ASCII is answered with a printable one of at most 200 characters', async () => {
  const answer = await send(server, '/sync/pull', pullBody(), {
    headers: { 'X-Sync-RequestID': `${'é'.repeat(500)}"\t` },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('X-Request-ID')).toMatch(/^[\x20-\x7e]{1,200}$/);
});

it.each(['%2E%2E', '%2e', '.', '..'])(
  'the path of a row with the key %s is not taken for another resource',
  async (key) => {
    const lines = [`GET /api/views/list/${key} HTTP/1.1`, 'Host: localhost', 'Authorization: Bearer ann'];
    const { status, body } = await sendBytes(
      server.url,
      Buffer.from([...lines, 'Connection: close', '', ''].join('\r\n')),
    );
    expect([status, body?.code]).toEqual([400, 'malformed-request']);
  },
);

const annsHeaders = { 'Content-Type': 'application/json', Authorization: 'Bearer ann' };

const ignore = () => {};

/** Sends a body without a Content-Length. The server may respond before it has received everything. */
function sendInChunks(path: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(server.url + path, { method: 'POST', headers: annsHeaders }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    // After the response, the rest of the body may find the connection closed.
    request.on('socket', (socket) => socket.off('error', ignore).on('error', ignore));
    for (let at = 0; at < body.length; at += 10_000) request.write(body.slice(at, at + 10_000));
    request.end();
  });
}
