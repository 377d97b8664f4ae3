import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryLog } from '../../../../test/support/log.js';
import { type ForwardOptions, forwardPush } from './forward.js';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function upstream(handler: Handler): Promise<string> {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    handler(request, response, body);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server?.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mutate?x=1`;
}

async function forward(url: string, options: Partial<ForwardOptions> = {}, authorization: string | null = 'Bearer t') {
  const { log, lines } = memoryLog();
  const body = new TextEncoder().encode('{"exact":  "bytes ☃"}');
  const requestID = { header: 'X-Replicache-RequestID', value: 'c-1-0' } as const;
  const rawPush = { body, authorization, requestID };
  const answer = await forwardPush({ url, ...options }, rawPush, log).catch((e: unknown) => e);
  return { answer, lines };
}

const answering = (status: number, body = '{}', headers: Record<string, string> = {}) =>
  upstream((_request, response) => {
    response.writeHead(status, headers);
    response.end(body);
  });

describe('a forwarded push', () => {
  it('contains the exact bytes, the authorization, the request ID and the API key', async () => {
    let seen: [IncomingMessage, string] | undefined;
    const url = await upstream((request, response, body) => {
      seen = [request, body];
      response.end('{}');
    });
    expect((await forward(url, { apiKey: 'k' })).answer).toBeNull();
    expect(seen?.[1]).toBe('{"exact":  "bytes ☃"}');
    expect(seen?.[0]).toMatchObject({
      method: 'POST',
      url: '/mutate?x=1',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer t',
        'x-replicache-requestid': 'c-1-0',
        'x-api-key': 'k',
      },
    });
  });

  it('has no authorization and no API key if there is none', async () => {
    let headers: IncomingMessage['headers'] = {};
    const url = await upstream((request, response) => {
      headers = request.headers;
      response.end('{}');
    });
    await forward(url, {}, null);
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('x-api-key');
  });
});

describe('the response to a forwarded push', () => {
  it.each([
    ['{}', null],
    ['{"anything": [1]}', null],
    ['{"error": "something else"}', null],
    ['{"error": "ClientStateNotFound", "more": 1}', { error: 'ClientStateNotFound' }],
    [
      '{"error": "VersionNotSupported", "versionType": "schema"}',
      { error: 'VersionNotSupported', versionType: 'schema' },
    ],
    ['{"error": "VersionNotSupported", "versionType": "secret"}', { error: 'VersionNotSupported' }],
  ])('is accepted with status 200 and the body %s', async (body, expected) => {
    expect((await forward(await answering(200, body))).answer).toEqual(expected);
  });

  it.each([
    [400, 400],
    [401, 401],
    [403, 403],
    [404, 502],
    [409, 409],
    [413, 413],
    [415, 415],
    [418, 502],
    [429, 429],
    [500, 502],
    [503, 503],
    [504, 502],
    [201, 502],
    [204, 502],
  ])('with status %d becomes %d, without its body', async (status, expected) => {
    const { answer, lines } = await forward(await answering(status, status === 204 ? '' : '{"secret": "stack"}'));
    expect(answer).toMatchObject({ status: expected });
    expect(String(answer)).not.toContain('secret');
    expect(lines[0]).toMatchObject({ level: 'warn', fields: { status } });
  });

  it.each([
    ['7', '7'],
    ['soon\tish', '1'],
    ['-1', '1'],
  ])('with status 503 and Retry-After %j becomes one with Retry-After %s', async (retryAfter, expected) => {
    const { answer } = await forward(await answering(503, '', { 'Retry-After': retryAfter }));
    expect(answer).toMatchObject({ headers: { 'Retry-After': expected } });
  });

  it.each([301, 302, 307, 308])('that redirects with %d is not followed', async (status) => {
    let requests = 0;
    const url = await upstream((_request, response) => {
      requests++;
      response.writeHead(status, { Location: '/elsewhere' });
      response.end();
    });
    expect((await forward(url)).answer).toMatchObject({ code: 'mutate-endpoint-failed', status: 502 });
    expect(requests).toBe(1);
  });

  it.each(['', 'OK', '[]', '"x"', 'null', '{"a":1', 'x'.repeat(100_000), `{"a":"${'x'.repeat(100_000)}"}`])(
    'with status 200 and the body %.10j is a failure',
    async (body) => {
      expect((await forward(await answering(200, body))).answer).toMatchObject({ code: 'mutate-endpoint-failed' });
    },
  );

  it('times out before it begins and within its body', async () => {
    const waiting = sleep(10_000, { answer: 'none yet' }, { ref: false });
    const answerOf = async (url: string) => (await Promise.race([forward(url, { timeoutMs: 100 }), waiting])).answer;
    const silent = await upstream(() => {});
    expect(await answerOf(silent)).toMatchObject({ code: 'mutate-endpoint-timeout', status: 504 });
    server?.closeAllConnections();
    server?.close();
    const stalled = await upstream((_request, response) => response.write('{'));
    expect(await answerOf(stalled)).toMatchObject({ code: 'mutate-endpoint-timeout' });
  });

  it('is a failure if the connection is refused or broken', async () => {
    expect((await forward('http://127.0.0.1:59998/')).answer).toMatchObject({
      code: 'mutate-endpoint-failed',
      status: 502,
    });
    const broken = await upstream((request) => request.socket.destroy());
    expect((await forward(broken)).answer).toMatchObject({ code: 'mutate-endpoint-failed', status: 502 });
  });
});
