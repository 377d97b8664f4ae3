import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../../packages/tidemark/src/errors.js';
import { type Served, serve } from './served.js';

let served: Served;

beforeAll(async () => {
  served = await serve({ limits: { call: 2_000 } });
});
afterAll(() => served.close());
beforeEach(async () => {
  served.lines.length = 0;
  served.hooks.onHook = (args) => args;
  await served.database.pool.query('delete from note');
});

/** Expects the error format that all errors share, and returns the body. */
async function expectProblem(response: Response, status: number, code: string, more: object = {}) {
  const body = await response.json();
  expect({ status: response.status, ...body }).toEqual({
    type: `urn:problem-type:tidemark:${code}`,
    title: expect.any(String),
    status,
    detail: expect.any(String),
    error: body.detail,
    code,
    requestID: response.headers.get('X-Request-ID'),
    ...more,
  });
  expect(response.headers.get('Content-Type')).toBe('application/problem+json');
  return body as { error: string; issues: { path: unknown[]; message: string }[] };
}

describe('a call', () => {
  it('runs its mutator, and reports success', async () => {
    const response = await served.call('/note/create', { id: 'a' });
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(await response.json()).toEqual({ ok: true });
    const { rows } = await served.database.pool.query('select id, owner_id, body from note');
    expect(rows).toEqual([{ id: 'a', owner_id: 'ann', body: 'new' }]);
  });

  it('returns the result of its mutator', async () => {
    await served.call('/note/create', { id: 'a' });
    expect(await (await served.call('/note/count')).json()).toEqual({ ok: true, result: { notes: 1 } });
    expect(await (await served.call('/deep/er/name')).json()).toEqual({ ok: true, result: 'deep' });
    for (const result of [null, false, 0, '', [], {}, [{ a: [1] }]]) {
      expect(await (await served.call('/hook', { result })).json()).toEqual({ ok: true, result: { result } });
    }
  });

  it('does not return a result of the database driver', async () => {
    expect(await (await served.call('/driver')).json()).toEqual({ ok: true });
  });

  it.each([201, 900])('is refused if its args are nested %d levels deep anywhere', async (depth) => {
    const deep = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    for (const args of [deep, { id: deep }]) {
      const { issues } = await expectProblem(await served.call('/note/create', args), 422, 'invalid-args', {
        issues: [expect.objectContaining({ path: [] })],
      });
      expect(issues[0]!.message).toMatch(/deeper than 200 levels/);
    }
  });

  it('passes an empty body as undefined, and null as null', async () => {
    const seen: unknown[] = [];
    served.hooks.onHook = (args) => void seen.push(args);
    await served.call('/hook');
    await served.call('/hook', undefined, { 'Content-Type': 'application/json' });
    await served.call('/hook', null);
    expect(seen).toEqual([undefined, undefined, null]);
    expect((await served.call('/note/count')).status).toBe(200);
    await expectProblem(await served.call('/note/count', null), 422, 'invalid-args', {
      issues: [{ path: [], message: expect.any(String) }],
    });
  });

  it('passes the args that the validator returns', async () => {
    await served.call('/note/create', { id: 'a', body: 'x', owner_id: 'ben' });
    const { rows } = await served.database.pool.query('select owner_id, body from note');
    expect(rows).toEqual([{ owner_id: 'ann', body: 'x' }]);
  });

  it('pokes the clients that see its effect', async () => {
    const stream = (await served.send('/sync/poke?clientGroupID=g&profileID=p&schemaVersion=')).body!;
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const pokes = async (count: number) => {
      while (text.split('data: poke').length <= count) text += (await reader.read()).value;
    };
    await pokes(1);
    await served.call('/note/create', { id: 'a' });
    await pokes(2);
    await reader.cancel();
  });
});

describe('a call is refused', () => {
  it('without a name', async () => {
    for (const path of ['', '/']) {
      const { error } = await expectProblem(await served.call(path), 400, 'mutator-name-missing');
      expect(error).toContain('mutator name is required');
      await expectProblem(await served.call(path, { id: 'a' }), 400, 'mutator-name-missing');
      await expectProblem(await served.call(path, 'note.create'), 400, 'mutator-name-missing');
    }
  });

  it.each([
    '/note', '/note/', '/note//create', '//note/create', '/note/create/', '/note%2Fcreate', '/note/create/x', '/__proto__',
    '/note/__proto__', '/constructor', '/note/constructor', '/toString', '/~', '/note/~', '/%', '/%ff', '/%00', '/hasOwnProperty',
    '/get', '/size', '/odd%20~%2Fnam', '/NOTE/create',
  ])('for an unknown name: %s', async (path) => {
    await expectProblem(await served.call(path, { id: 'a' }), 404, 'unknown-mutator');
  }); // biome-ignore format: a row of names

  it('but not for an unusual name', async () => {
    expect(await (await served.call('/odd%20~%2Fname')).json()).toEqual({ ok: true, result: 'odd' });
  });

  it('with any method but POST', async () => {
    for (const path of ['/api/mutators', '/api/mutators/note/create', '/api/mutators/unknown']) {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']) {
        const response = await served.send(path, { method });
        expect(response.status).toBe(405);
        expect(response.headers.get('Allow')).toBe('POST');
      }
    }
  });

  it('without authentication, even without a name', async () => {
    for (const path of ['', '/note/create', '/unknown']) {
      const response = await served.call(path, { id: 'a' }, { Authorization: '' });
      await expectProblem(response, 401, 'unauthenticated');
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
    }
  });

  it('with a body that is not JSON', async () => {
    const post = (body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
      served.send('/api/mutators/note/create', { method: 'POST', body, headers: { 'Content-Type': type } });
    await expectProblem(await post('{"id":'), 400, 'malformed-request');
    await expectProblem(await post(new Uint8Array([0x22, 0xff, 0x22])), 400, 'malformed-request');
    await expectProblem(await post('{"id":"a","n":12345678901234567890}'), 400, 'malformed-request');
    await expectProblem(await post('id=a', 'application/x-www-form-urlencoded'), 415, 'unsupported-media-type');
    await expectProblem(await post('', 'text/plain'), 415, 'unsupported-media-type');
    await expectProblem(await post(`"${'x'.repeat(2_000)}"`), 413, 'body-too-large');
    expect(await served.notes()).toEqual([]);
  });

  it('without a content type, if a browser sends it from another site', async () => {
    const from = (site: string) => served.call('/hook', undefined, { 'Sec-Fetch-Site': site });
    await expectProblem(await from('cross-site'), 415, 'unsupported-media-type');
    await expectProblem(await from('same-site'), 415, 'unsupported-media-type');
    expect((await from('same-origin')).status).toBe(200);
  });

  it('without a content type, if an older browser sends it from another origin', async () => {
    const seen: unknown[] = [];
    served.hooks.onHook = (args) => void seen.push(args);
    const from = (headers: Record<string, string>) => served.call('/hook', undefined, headers);
    for (const origin of ['https://evil.test', 'http://localhost:8080', 'https://localhost.evil.test', 'null']) {
      await expectProblem(await from({ Origin: origin }), 415, 'unsupported-media-type');
    }
    await expectProblem(await from({ Origin: 'http://localhost', Host: 'notes.test' }), 415, 'unsupported-media-type');
    expect(seen).toEqual([]);
    expect((await from({ Origin: 'http://localhost' })).status).toBe(200);
    expect((await from({ Origin: 'https://notes.test', Host: 'notes.test' })).status).toBe(200);
    expect(seen).toHaveLength(2);
  });

  it('with args that the validator refuses, and the response does not repeat them', async () => {
    const { issues } = await expectProblem(
      await served.call('/note/create', { id: '', body: 7 }),
      422,
      'invalid-args',
      {
        issues: expect.any(Array),
      },
    );
    expect(issues.map(({ path }) => path)).toEqual([['id'], ['body']]);
    await expectProblem(await served.call('/note/create'), 422, 'invalid-args', { issues: expect.any(Array) });
    await expectProblem(await served.call('/hook', { x: '\ud800' }), 422, 'invalid-args', {
      issues: expect.any(Array),
    });
  });

  it('by the mutator, on purpose', async () => {
    const response = await served.call('/note/refuse', { id: 'a' });
    const { error } = await expectProblem(response, 409, 'mutator-error', { details: { by: 'ben' } });
    expect(error).toBe('The note is locked');
    expect(await served.notes()).toEqual([]);
    expect(served.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('because of an error of the mutator, which only the log shows', async () => {
    await served.call('/note/create', { id: 'secret' });
    const response = await served.call('/note/create', { id: 'secret' });
    const body = await expectProblem(response, 409, 'conflict');
    expect(JSON.stringify(body)).not.toMatch(/secret|duplicate|note_pkey|insert/i);
    const line = served.lines.find(({ level }) => level === 'warn');
    expect(line!.fields).toMatchObject({ requestID: response.headers.get('X-Request-ID') });
    expect(JSON.stringify(line)).toContain('note_pkey');
  });

  it.each([
    ['a bigint', () => 1n],
    ['a cycle', () => { const a: unknown[] = []; a.push(a); return a; }],
  ])('because of a result that is %s', async (_, result) => {
    served.hooks.onHook = result;
    await expectProblem(await served.call('/hook'), 500, 'internal');
  }); // biome-ignore format: short

  it('by a problem that the application throws, with Retry-After', async () => {
    served.hooks.onHook = () => {
      throw new Problem('too-many-requests', 'Slow down');
    };
    const response = await served.call('/hook');
    await expectProblem(response, 429, 'too-many-requests');
    expect(response.headers.get('Retry-After')).toBe('1');
  });

  it('while the database is unavailable, with Retry-After', async () => {
    served.hooks.onHook = () => {
      throw Object.assign(new Error('gone'), { code: '57P01' });
    };
    const response = await served.call('/hook');
    await expectProblem(response, 503, 'unavailable');
    expect(response.headers.get('Retry-After')).toBe('1');
  });
});
