import { describe, expect, it, vi } from 'vitest';
import { expectProblem, pull, push, setUp } from '../../../../test/integration/endpoints/requests.js';
import type { UserContext } from '../context.js';
import { Problem, SetupError } from '../errors.js';
import type { PushService } from './push-service.js';

describe('the routes', () => {
  it('include pull and push', async () => {
    const { post } = setUp();
    const pulled = await post('/sync/pull', pull);
    expect(pulled.status).toBe(200);
    expect(Object.fromEntries(pulled.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'r-1-0',
    });
    expect(await pulled.text()).toBe('{"cookie":1}');
    expect(await (await post('/sync/push', push)).text()).toBe('{}');
  });

  it('can have another base path', async () => {
    const { post } = setUp({ basePath: '/api/v1' });
    expect((await post('/api/v1/sync/pull', pull)).status).toBe(200);
    await expectProblem(await post('/sync/pull', pull), 404, 'not-found');
  });

  it('return refusals of the protocol with status 200', async () => {
    const { post } = setUp({
      pull: async () => ({ error: 'ClientStateNotFound' }),
      push: async () => ({ error: 'VersionNotSupported', versionType: 'schema' }),
    });
    const pulled = await post('/sync/pull', pull);
    expect([pulled.status, await pulled.json()]).toEqual([200, { error: 'ClientStateNotFound' }]);
    const pushed = await post('/sync/push', push);
    expect([pushed.status, await pushed.json()]).toEqual([
      200,
      { error: 'VersionNotSupported', versionType: 'schema' },
    ]);
    expect(await (await post('/sync/pull', { pullVersion: 2 })).json()).toEqual({
      error: 'VersionNotSupported',
      versionType: 'pull',
    });
    expect(await (await post('/sync/push', { pushVersion: 2 })).json()).toMatchObject({ versionType: 'push' });
  });

  it('include health and readiness probes', async () => {
    let cause: Error | undefined;
    const { send } = setUp({
      notifier: () => ({ subscribers: 2, lagMs: 41 }),
      consistencyChecks: () => ({ comparisons: 3, differences: 1 }),
      ready: async () => {
        if (cause) throw cause;
      },
    });
    for (const path of ['/healthz', '/readyz']) {
      expect(await (await send(path)).json()).toMatchObject({ status: 'ok' });
      const head = await send(path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    }
    expect(await (await send('/readyz')).json()).toEqual({
      status: 'ok',
      degraded: ['consistency-differences'],
      pokes: { subscribers: 2, lagMs: 41 },
      consistencyChecks: { comparisons: 3, differences: 1 },
    });
    cause = new Error('secret host');
    expect((await send('/healthz')).status).toBe(200);
    const { detail } = await expectProblem(await send('/readyz'), 503, 'unavailable', {
      degraded: ['database', 'consistency-differences'],
    });
    expect(detail).toBe('The server is not ready; the change log was last read 41 ms ago');
    const idle = setUp({ ready: () => Promise.reject(cause) });
    const refusal = await expectProblem(await idle.send('/readyz'), 503, 'unavailable', { degraded: ['database'] });
    expect(refusal.detail).toBe('The server is not ready');
    expect(JSON.stringify(idle.lines)).toContain('secret host');
  });

  it('log probes at debug, also below a base path, and probes of a wrong path at info', async () => {
    const { send, lines } = setUp({ basePath: '/sync-server' });
    for (const path of ['/sync-server/healthz', '/sync-server/readyz', '/healthz']) await send(path);
    expect(lines.map(({ level, fields: { path, status } }) => [path, status, level])).toEqual([
      ['/sync-server/healthz', 200, 'debug'],
      ['/sync-server/readyz', 200, 'debug'],
      ['/healthz', 404, 'info'],
    ]);
  });

  it.each([
    ['pokes-late', { notifier: () => ({ subscribers: 1, lagMs: 5_001 }) }],
    ['consistency-differences', { consistencyChecks: () => ({ comparisons: 1, differences: 1 }) }],
    ['upkeep-fails', { upkeep: () => ({ isFailing: true, heldSeconds: 0 }) }],
    ['horizon-held', { upkeep: () => ({ isFailing: false, heldSeconds: 3601 }) }],
  ])('report degraded readiness: %s', async (code, parts) => {
    const degradedOf = async (one: typeof parts) =>
      ((await (await setUp(one).send('/readyz')).json()) as { degraded: string[] }).degraded;
    expect(await degradedOf(parts)).toEqual([code]);
    const fine = {
      notifier: () => ({ subscribers: 1, lagMs: 5_000 }),
      upkeep: () => ({ isFailing: false, heldSeconds: 60 }),
    };
    expect(await degradedOf(fine)).toEqual([]);
  });

  it('report a wrong setup without its details', async () => {
    const { send } = setUp({ ready: () => Promise.reject(new SetupError('secret table')) });
    await expectProblem(await send('/readyz'), 503, 'unavailable', { degraded: ['setup'] });
  });

  it.each([
    ['GET', '/sync/pull', 'POST'],
    ['DELETE', '/sync/push', 'POST'],
    ['OPTIONS', '/sync/pull', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['PUT', '/readyz', 'GET, HEAD'],
  ])('do not allow %s %s', async (method, path, allow) => {
    const response = await setUp().send(path, { method });
    expect(response.headers.get('Allow')).toBe(allow);
    const { detail } = await expectProblem(response, 405, 'method-not-allowed');
    expect(detail).toBe(`This path accepts only ${allow}`);
  });

  it('do not allow HEAD where only POST is allowed', async () => {
    expect((await setUp().send('/sync/pull', { method: 'HEAD' })).status).toBe(405);
  });

  it.each(['/', '/sync', '/sync/pull/', '/sync/pull/x', '/%', '/%ff', '/__proto__', '/sync/constructor'])(
    'do not include %s',
    async (path) => {
      const { detail } = await expectProblem(await setUp().post(path, pull), 404, 'not-found');
      expect(detail).toBe('There is nothing at this path');
    },
  );
});

describe('authentication', () => {
  it('refuses an unauthenticated request with 401 before it reads the body', async () => {
    const response = await setUp().post('/sync/pull', 'no json', { Authorization: '' });
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
    const { detail } = await expectProblem(response, 401, 'unauthenticated');
    expect(detail).toBe('The request has no valid authorization');
  });

  it('passes on a Problem with its headers', async () => {
    const { post } = setUp({
      authenticate: () => {
        throw new Problem('forbidden', 'not you', { headers: { 'X-Why': 'because' } });
      },
    });
    const response = await post('/sync/push', push);
    expect(response.headers.get('X-Why')).toBe('because');
    expect((await expectProblem(response, 403, 'forbidden')).detail).toBe('not you');
  });

  it.each([new Error('secret'), null, 'secret', undefined, Object.assign(new Error('secret'), { code: '42P01' })])(
    'turns any other thrown value into a 500 (case %#)',
    async (thrown) => {
      const { post, lines } = setUp({
        authenticate: async () => {
          throw thrown;
        },
      });
      const { detail } = await expectProblem(await post('/sync/push', push), 500, 'internal');
      expect(detail).toBe('The server failed; its log has the cause under the request ID');
      expect(lines.filter((line) => line.level === 'error')).toHaveLength(1);
    },
  );

  it('responds 503 if the database is unavailable', async () => {
    const { post } = setUp({
      authenticate: () => {
        throw Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
      },
    });
    const response = await post('/sync/pull', pull);
    expect(response.headers.get('Retry-After')).toBe('1');
    await expectProblem(response, 503, 'unavailable');
  });

  it('responds 500 if authenticate has read the body', async () => {
    const { post, lines } = setUp({
      authenticate: async (request) => {
        await request.text();
        return { userID: 'u' };
      },
    });
    await expectProblem(await post('/sync/pull', pull), 500, 'internal');
    expect(JSON.stringify(lines)).toContain('must not read the body');
  });

  it.each([new Date(0), new Date(8.64e15), undefined])('accepts the expiry %s', async (expiresAt) => {
    const { post } = setUp({ authenticate: () => ({ userID: 'u', expiresAt }) as UserContext });
    expect((await post('/sync/pull', pull)).status).toBe(200);
  });

  it.each([new Date(Number.NaN), 5, '2030-01-01', null])('responds 500 to the invalid expiry %s', async (expiresAt) => {
    const { post, lines } = setUp({ authenticate: () => ({ userID: 'u', expiresAt }) as UserContext });
    await expectProblem(await post('/sync/pull', pull), 500, 'internal');
    expect(JSON.stringify(lines)).toContain('expiresAt must be a valid Date');
  });

  it.each([
    ['empty', ''],
    ['a text with NUL', 'a\0'],
    ['a text with a lone surrogate', 'a\ud800'],
    ['a number', 7],
    ['undefined', undefined],
    ['too long', 'é'.repeat(513)],
  ])('refuses and logs a context whose userID is %s', async (_, userID) => {
    const { post, lines } = setUp({ authenticate: () => ({ userID }) as UserContext });
    await expectProblem(await post('/sync/pull', pull), 401, 'unauthenticated');
    expect(JSON.stringify(lines)).toContain(
      'whose userID is not a non-empty, well-formed string of at most 1,024 bytes',
    );
  });
});

describe('a request', () => {
  it.each([
    [{ 'X-Sync-RequestID': 'a' }, 'a'],
    [{ 'X-Sync-RequestID': '', 'X-Replicache-RequestID': 'b' }, 'b'],
    [{ 'X-Sync-RequestID': 'a', 'X-Replicache-RequestID': 'b' }, 'a'],
    [{ 'X-Sync-RequestID': `\té${'x'.repeat(300)}` }, 'x'.repeat(200)],
    [{ 'X-Sync-RequestID': 'é a b é' }, 'a b'],
    [{ 'X-Sync-RequestID': `${'x'.repeat(199)} y` }, 'x'.repeat(199)],
  ])('gets its ID from its headers (case %#)', async (headers, expected) => {
    const { post, lines } = setUp();
    const response = await post('/sync/pull', '{}', headers as Record<string, string>);
    expect(response.headers.get('X-Request-ID')).toBe(expected);
    await expectProblem(response, 400, 'malformed-request');
    expect(lines.map((line) => line.fields.requestID)).toEqual([expected]);
  });

  it('gets a random ID if it has none', async () => {
    expect((await setUp().send('/healthz')).headers.get('X-Request-ID')).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
  });

  it('is logged once, and a failure also with its cause', async () => {
    const failing = setUp({
      pull: async () => {
        throw new Error('relation "secret" does not exist');
      },
    });
    const response = await failing.post('/sync/pull', pull);
    expect((await expectProblem(response, 500, 'internal')).detail).not.toContain('secret');
    expect(failing.lines).toMatchObject([
      { level: 'error', fields: { requestID: 'r-1-0', error: { message: 'relation "secret" does not exist' } } },
      {
        level: 'info',
        fields: { requestID: 'r-1-0', method: 'POST', path: '/sync/pull', status: 500, ms: expect.any(Number) },
      },
    ]);
    const fine = setUp();
    await fine.post('/sync/push', push);
    await fine.send('/healthz');
    expect(fine.lines).toMatchObject([{ level: 'info', fields: { status: 200 } }, { level: 'debug' }]);
  });

  it('passes its user, ID and authorization to the push', async () => {
    const seen = vi.fn(async () => null);
    await setUp({ push: seen }).post('/sync/push', push);
    expect(seen).toHaveBeenCalledWith(
      expect.objectContaining({ clientGroupID: 'g' }),
      expect.objectContaining({ context: { userID: 'u' }, requestID: 'r-1-0' }),
      expect.objectContaining({ authorization: 'secret' }),
    );
  });

  it('reaches a push route that forwards it with its original bytes and headers', async () => {
    const forward = vi.fn<PushService<UserContext, never>['push']>(async () => null);
    const body = `${JSON.stringify(push)}  `;
    const response = await setUp({ push: forward }).post('/sync/push', body, {
      'X-Sync-RequestID': '',
      'X-Replicache-RequestID': 'r',
    });
    expect(await response.text()).toBe('{}');
    expect(forward.mock.calls[0]?.[2]).toEqual({
      body: Buffer.from(body),
      authorization: 'secret',
      requestID: { header: 'X-Replicache-RequestID', value: 'r' },
    });
    await expectProblem(await setUp({ push: forward }).post('/sync/push', '{}'), 400, 'malformed-request');
    expect(forward).toHaveBeenCalledOnce();
  });
});
