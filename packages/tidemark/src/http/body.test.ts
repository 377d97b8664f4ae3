import { describe, expect, it, vi } from 'vitest';
import { expectProblem, pull, push, setUp } from '../../../../test/integration/endpoints/requests.js';
import { json } from './answer.js';
import { readJSON, readOptionalJSON } from './body.js';

const requestWith = (body: string) =>
  new Request('http://localhost', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });

describe('a body', () => {
  const paths = ['/sync/pull', '/sync/push'];

  it.each([
    'text/plain',
    '',
    'application/json; charset=latin1',
    'application/x-www-form-urlencoded',
    'application/jsonp',
  ])('of the media type %j is refused', async (type) => {
    for (const path of paths) {
      const response = await setUp().post(path, '{}', { 'Content-Type': type });
      const { detail } = await expectProblem(response, 415, 'unsupported-media-type');
      expect(detail).toBe('The content type must be application/json, in UTF-8');
    }
  });

  it.each([
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json;',
  ])('of the media type %s is accepted', async (type) => {
    expect((await setUp().post('/sync/pull', pull, { 'Content-Type': type })).status).toBe(200);
  });

  it('is refused if it is compressed', async () => {
    const response = await setUp().post('/sync/push', push, { 'Content-Encoding': 'gzip' });
    const { detail } = await expectProblem(response, 415, 'unsupported-media-type');
    expect(detail).toBe('The body must not be compressed');
  });

  it('is accepted with the content encoding identity', async () => {
    expect((await setUp().post('/sync/push', push, { 'Content-Encoding': ' Identity ' })).status).toBe(200);
  });

  it('of exactly the maximum size is accepted, declared or chunked', async () => {
    const { post } = setUp({ limits: { push: 1_000 } });
    const body = JSON.stringify(push).padEnd(1_000);
    expect((await post('/sync/push', body, { 'Content-Length': '1000' })).status).toBe(200);
    expect((await post('/sync/push', new Blob([body]).stream())).status).toBe(200);
  });

  it('over the maximum size is refused, declared or chunked', async () => {
    const { post } = setUp({ limits: { pull: 1_000, push: 2_000 } });
    expect((await post('/sync/pull', `${JSON.stringify(pull)}${' '.repeat(500)}`)).status).toBe(200);
    for (const [path, size] of [
      ['/sync/pull', 1_001],
      ['/sync/push', 2_001],
    ] as const) {
      await expectProblem(
        await post(path, ' '.repeat(size), { 'Content-Length': String(size) }),
        413,
        'body-too-large',
      );
      await expectProblem(await post(path, ' '.repeat(size), { 'Content-Length': '5' }), 413, 'body-too-large');
      let sent = 0;
      const long = new ReadableStream({
        pull(controller) {
          sent += 100;
          controller.enqueue(new Uint8Array(100).fill(32));
          if (sent > 100 * size) controller.close();
        },
      });
      const { detail } = await expectProblem(await post(path, long), 413, 'body-too-large');
      expect(detail).toBe(`The body must not be larger than ${size - 1} bytes`);
      expect(sent).toBeLessThan(size + 1_000);
    }
  });

  it('with a declared size over the maximum is not read', async () => {
    const read = vi.fn((controller: ReadableStreamDefaultController) => controller.close());
    const body = new ReadableStream({ pull: read }, { highWaterMark: 0 });
    const response = await setUp({ limits: { push: 2_000 } }).post('/sync/push', body, { 'Content-Length': '2001' });
    await expectProblem(response, 413, 'body-too-large');
    expect(read).not.toHaveBeenCalled();
  });

  it.each([
    ['empty', ''],
    ['not JSON', '{"secret": hunter2'],
    ['not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
    ['an overlong NUL', new Uint8Array([0x22, 0xc0, 0x80, 0x22])],
    ['a surrogate in UTF-8', new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0])],
    ['an array', '[]'],
    ['100,000 nested arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['an object without fields', '{}'],
    ['an object with fields only in __proto__', '{"__proto__": {"pullVersion": 1, "pushVersion": 1}}'],
  ])('is malformed if it is %s', async (_kind, body) => {
    for (const path of paths) {
      const { detail } = await expectProblem(await setUp().post(path, body), 400, 'malformed-request');
      expect(detail).not.toContain('hunter2');
      if (body instanceof Uint8Array) expect(detail).toBe('The body is not valid UTF-8');
    }
  });

  it('is malformed if a string in a valid request contains invalid UTF-8', async () => {
    for (const [path, request] of [
      ['/sync/pull', pull],
      ['/sync/push', push],
    ] as const) {
      const body = Buffer.from(JSON.stringify({ ...request, profileID: '\u007f' }));
      body[body.indexOf(0x7f)] = 0xff;
      await expectProblem(await setUp().post(path, new Uint8Array(body)), 400, 'malformed-request');
    }
  });

  it('may contain a deeply nested cookie', async () => {
    const seen = vi.fn(async () => json({}));
    const cookie = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const body = JSON.stringify(pull).replace('null', cookie);
    expect((await setUp({ pull: seen }).post('/sync/pull', body)).status).toBe(200);
    expect(seen).toHaveBeenCalledOnce();
  });

  it('is not quoted in the message of a syntax error', async () => {
    for (const text of ['', '{', '{"secret": hunter2}', '[1,]', 'NaN', "{'a':1}"]) {
      await expect(readJSON(requestWith(text), { limit: 1_000 })).rejects.toThrow(
        expect.objectContaining({ code: 'malformed-request', message: 'The body is not valid JSON', cause: undefined }),
      );
    }
  });

  it('may contain __proto__ keys, which remain data', async () => {
    const { value } = await readJSON(requestWith('{"__proto__": {"polluted": true}}'), { limit: 1_000 });
    expect(Object.getOwnPropertyNames(value)).toEqual(['__proto__']);
    expect((value as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('may contain inexact numbers in a pull, but not in a push', async () => {
    const { post } = setUp();
    const big = (body: object) => JSON.stringify(body).replace('null', '9007199254740993');
    const { detail } = await expectProblem(await post('/sync/push', big(push)), 400, 'malformed-request');
    expect(detail).toContain('send it as a string');
    expect((await post('/sync/pull', big(pull))).status).toBe(200);
  });

  it('is refused if it is cut off', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
    const { detail } = await expectProblem(await setUp().post('/sync/push', broken), 400, 'malformed-request');
    expect(detail).toBe('The body was cut off');
  });
});

describe('an optional body', () => {
  const read = (headers: Record<string, string>, body?: Uint8Array<ArrayBuffer>) =>
    readOptionalJSON(new Request('http://localhost', { method: 'POST', headers, body: body ?? null }), { limit: 100 });

  it.each<Record<string, string>>([
    {},
    { 'Sec-Fetch-Site': 'none' },
    { 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'application/json' },
  ])('may be missing: %j', async (headers) => {
    expect(await read(headers)).toMatchObject({ bytes: { byteLength: 0 }, value: undefined });
  });

  it.each<[headers: Record<string, string>, body?: Uint8Array<ArrayBuffer>]>([
    [{ 'Sec-Fetch-Site': 'cross-site' }],
    [{ 'Sec-Fetch-Site': 'same-site' }],
    [{}, new Uint8Array([123, 125])],
    [{ 'Content-Type': 'text/plain' }],
  ])('is refused without the media type of JSON: %j', async (headers, body) => {
    await expect(read(headers, body)).rejects.toMatchObject({ code: 'unsupported-media-type' });
  });
});
