import { describe, expect, it, vi } from 'vitest';
import { memoryLog } from '../../../../test/support/log.js';
import { Problem } from '../errors.js';
import { type Answer, json } from './answer.js';
import { createApp } from './app.js';

/** Has a handler answer a request. Returns the response, and the lines that were logged. */
function answer(
  handler: () => Promise<Answer>,
  { env, logLevel }: { env?: unknown; logLevel?: 'debug' | undefined } = {},
) {
  const { log, lines } = memoryLog();
  const request = new Request('http://localhost/x', { method: 'POST', headers: { 'X-Sync-RequestID': 'r' } });
  const response = createApp([{ methods: ['POST'], path: '/x', logLevel, handle: handler }], log).fetch(request, env);
  return { response, lines };
}

async function* chunks(...parts: readonly (string | Error)[]) {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield new TextEncoder().encode(part);
  }
}

function inPieces(...parts: readonly (string | Error)[]): () => Promise<Answer> {
  return async () => ({ kind: 'json in pieces', pieces: chunks(...parts) });
}

describe('an answer', () => {
  it('overrides default headers with its own', async () => {
    const headers = { 'Cache-Control': 'public', 'X-Own': '1' };
    const { response, lines } = answer(async () => ({ kind: 'reply', status: 304, headers, body: null }));
    const { status, headers: sent } = await response;
    expect(status).toBe(304);
    expect(Object.fromEntries(sent)).toEqual({
      'cache-control': 'public',
      'content-type': 'application/json',
      'x-own': '1',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'r',
    });
    expect(lines).toMatchObject([{ level: 'info', message: 'Request', fields: { status: 304, method: 'POST' } }]);
  });

  it.each([
    ['info', undefined],
    ['debug', 'debug'],
  ] as const)('is logged as %s if the log level of its route is %s', async (level, logLevel) => {
    const { response, lines } = answer(async () => json({}), { logLevel });
    expect(await (await response).text()).toBe('{}');
    expect(lines).toMatchObject([{ level, fields: { path: '/x', status: 200, requestID: 'r' } }]);
  });

  it('in pieces is logged when it ends', async () => {
    const { response, lines } = answer(inPieces('[', ']'));
    const { headers, body } = await response;
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(lines).toEqual([]);
    expect(await new Response(body).text()).toBe('[]');
    expect(lines).toMatchObject([{ level: 'info', fields: { status: 200, outcome: 'complete' } }]);
  });

  it('of events has headers that keep proxies from buffering it', async () => {
    const open = vi.fn(() => new ReadableStream<Uint8Array>());
    const { headers, status } = await answer(async () => ({ kind: 'events', open })).response;
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toEqual({
      'cache-control': 'private, no-store, no-transform',
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'r',
    });
    expect(open).toHaveBeenCalledOnce();
  });
});

describe('an answer that fails midway', () => {
  const failing = inPieces('[', new Error('torn'));

  it('is logged, and fails its stream', async () => {
    const { response, lines } = answer(failing);
    await expect((await response).text()).rejects.toThrow('The response was cut off');
    expect(lines).toMatchObject([
      { level: 'error', message: 'A response was cut off', fields: { error: { message: 'torn' } } },
      { level: 'info', fields: { status: 200, outcome: 'failed' } },
    ]);
  });

  it.each([
    ['has begun', true],
    ['has not begun', false],
  ])("destroys the connection of Node's server only if the response has begun: it %s", async (_, headersSent) => {
    const outgoing = { headersSent, destroy: vi.fn() };
    const { response } = answer(failing, { env: { outgoing } });
    const reader = (await response).body!.getReader();
    await reader.read();
    const next = reader.read();
    if (headersSent) {
      await vi.waitFor(() => expect(outgoing.destroy).toHaveBeenCalledOnce());
    } else {
      await expect(next).rejects.toThrow('The response was cut off');
      expect(outgoing.destroy).not.toHaveBeenCalled();
    }
  });

  it.each([null, {}, 'env'])("fails its stream without Node's server: %j", async (env) => {
    const { response } = answer(failing, { env });
    await expect((await response).text()).rejects.toThrow('The response was cut off');
  });
});

describe('a failure', () => {
  it.each<[thrown: Error, status: number, levels: readonly string[]]>([
    [new Problem('malformed-request', 'no'), 400, ['info']],
    [new Problem('unavailable', 'no', { cause: new Error('why') }), 503, ['warn', 'info']],
    [new Error('why'), 500, ['error', 'info']],
  ])('by %s has status %d, and is logged as %j', async (thrown, status, levels) => {
    const { response, lines } = answer(async () => {
      throw thrown;
    });
    expect((await response).status).toBe(status);
    expect(lines.map(({ level }) => level)).toEqual(levels);
    expect(lines.at(-1)).toMatchObject({ message: 'Request', fields: { status, code: expect.any(String) } });
    if (status >= 500) {
      expect(lines[0]).toMatchObject({ message: 'A request failed', fields: { error: { message: 'why' } } });
    }
  });

  it('without a cause is logged with its code and detail', async () => {
    const { response, lines } = answer(async () => {
      throw new Problem('unavailable', 'later');
    });
    await response;
    expect(lines[0]!.fields).toEqual({ requestID: 'r', code: 'unavailable', detail: 'later' });
  });

  it.each([
    ['body-too-large', 1],
    ['malformed-request', 0],
  ] as const)("with the code %s detaches the reader of the body in Node's server: %d times", async (code, times) => {
    const incoming = { removeAllListeners: vi.fn() };
    const failing = async () => {
      throw new Problem(code, 'no');
    };
    for (const env of [undefined, null, 'env', {}, { incoming }]) await answer(failing, { env }).response;
    expect(incoming.removeAllListeners).toHaveBeenCalledTimes(times);
    if (times > 0) expect(incoming.removeAllListeners).toHaveBeenCalledWith('data');
  });
});
