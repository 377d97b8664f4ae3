/** Texts and bytes that are hard on servers: each comes back equal, or is refused clearly. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Fuzzed, fuzzedMutators, serveFuzzed } from './fuzzed.js';
import { jsonCases, naughtyStrings } from './naughty.js';
import { expectSound, marker, type Received, type SentRequest, send, sendBytes } from './sent.js';

let fuzzed: Fuzzed;

beforeAll(async () => {
  fuzzed = await serveFuzzed(fuzzedMutators);
});

afterAll(() => fuzzed.close());

afterEach(async () => {
  expect((await send(fuzzed.url, { method: 'GET', path: '/readyz' })).status).toBe(200);
  expect(fuzzed.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

const api = '/api/mutators';
const json = JSON.stringify;
const post = (path: string, body: SentRequest['body'], headers = {}) =>
  send(fuzzed.url, { path: api + path, body, headers });

/** A few at a time. */
async function each<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
    }),
  );
}

/** The JSON text of what bytes say, in one spelling; undefined when they are no JSON. */
function read(bytes: Uint8Array): string | undefined {
  try {
    return json(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return undefined;
  }
}

/** `y_` must come back, `n_` must be refused, and of the others, what is not refused must come back. */
function expectEcho(name: string, { status, text }: Received, result: unknown, wanted: string | undefined): void {
  if (name.startsWith('y_')) expect(status, `${name}: ${text}`).toBe(200);
  if (wanted === undefined) expect(status, `${name}: ${text}`).toBe(400);
  if (status === 200) expect(json(result), name).toBe(wanted);
  else expect([400, 422], `${name}: ${text}`).toContain(status);
}

/** As a header can hold them, each once: of two requests with one key at the same time, one is refused. */
const headerValues = [...new Set(naughtyStrings.map((text) => trim(text.replace(/[\r\n]/g, ' '))))];

/** Spaces around a header's value are no part of it. */
function trim(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}

describe('the JSON test suite', () => {
  it('is there', () => {
    expect(jsonCases.length).toBeGreaterThan(318);
    expect(naughtyStrings.length).toBeGreaterThan(480);
  });

  it('as args', () =>
    each(jsonCases, async ({ name, bytes }) => {
      const answer = await post('/echo/any', bytes);
      expectSound(answer);
      // An empty body is no args at all.
      if (bytes.byteLength === 0) expect(answer.body).toEqual({ ok: true });
      else expectEcho(name, answer, answer.body?.result, read(bytes));
      if (name.startsWith('n_') && bytes.byteLength > 0) expect(answer.status, name).toBe(400);
    }));

  it('as the args of an entry', () =>
    each(jsonCases, async ({ name, bytes }) => {
      const batch = Buffer.concat([Buffer.from('[{"name":"echo.any","args":'), bytes, Buffer.from('}]')]);
      const answer = await post('', batch);
      expectSound(answer);
      const wanted = read(batch);
      const args = wanted === undefined ? undefined : json((JSON.parse(wanted) as [{ args: unknown }])[0].args);
      const [entry] = Array.isArray(answer.body) ? (answer.body as { result: unknown }[]) : [];
      expectEcho(name, answer, entry?.result, args);
    }));

  it('as a batch', () =>
    each(jsonCases, async ({ name, bytes }) => {
      const answer = await post('', bytes);
      expectSound(answer);
      // No case is a batch but the empty one.
      expect(answer.status, name).toBe(read(bytes) === '[]' ? 200 : 400);
    }));
});

describe('naughty strings', () => {
  it('as args come back equal', () =>
    each(naughtyStrings, async (text) => {
      for (const path of ['/echo/any', '/echo/text']) {
        expect((await post(path, json(text))).body).toEqual({ ok: true, result: text });
      }
    }));

  it('as keys and values come back equal', () =>
    each(naughtyStrings, async (text) => {
      const args = json(Object.fromEntries([[text, [text, Object.fromEntries([[text, text]])]]]));
      expect((await post('/echo/any', args)).text).toBe(`{"ok":true,"result":${args}}`);
    }));

  it('as args of another type are refused, and not repeated', () =>
    each(naughtyStrings, async (text) => {
      const args = {
        whole: `${marker}${text}`,
        few: text,
        [`${marker}${text}`]: text,
        ...Object.fromEntries([[text, 1]]),
      };
      for (const path of ['/typed/numbers', '/typed/choice', '/typed/record', '/typed/nothing', '/typed/loose']) {
        const answer = await post(path, json(args));
        expectSound(answer, [text]);
        expect(answer.status).toBe(422);
      }
    }));

  it('as the name of a mutator are nobody', () =>
    each(naughtyStrings, async (text) => {
      for (const path of [`/${encodeURIComponent(text)}`, `/${marker}/${encodeURIComponent(text)}`]) {
        const answer = await post(path, '{}');
        expectSound(answer, [text]);
        expect([400, 404, 405]).toContain(answer.status);
      }
      const answer = await post('', json([{ name: 'echo.any' }, { name: text, args: text }]));
      expectSound(answer, [text]);
      expect(answer).toMatchObject({ status: 404, body: { code: 'unknown-mutator', index: 1 } });
    }));

  it('as the bytes of a path', () =>
    each(naughtyStrings, async (text) => {
      const answer = await sendBytes(fuzzed.url, Buffer.from(`POST ${api}/${text} HTTP/1.1\r\n${head({})}`));
      expectSound(answer, [text]);
      expect([400, 404, 405]).toContain(answer.status);
    }));

  it.each(['Idempotency-Key', 'Prefer', 'Content-Type', 'X-Sync-RequestID'])('as %s', (header) =>
    each(headerValues, async (value) => {
      for (const bytes of [value, `"${value}"`, `tx=${value}`]) {
        // Each has a caller of its own, for escaped and quoted, two values can be the same key.
        const Authorization = `Bearer ${headerValues.indexOf(value)}`;
        const request = `POST ${api}/echo/any HTTP/1.1\r\n${head({ Authorization, [header]: bytes })}`;
        const answer = await sendBytes(fuzzed.url, Buffer.from(request));
        expectSound(answer, header === 'X-Sync-RequestID' ? [] : [value]);
        expect([200, 400, 415]).toContain(answer.status);
        if (header === 'Idempotency-Key' && answer.status === 200) {
          expect((await sendBytes(fuzzed.url, Buffer.from(request))).headers.get('Idempotent-Replayed')).toBe('true');
        }
      }
    }),
  );

  it('as the name of the caller, who is then nobody else', () =>
    each(headerValues, async (value) => {
      const request = `POST ${api}/echo/user HTTP/1.1\r\n${head({ Authorization: `Bearer ${value}`, 'Idempotency-Key': 'shared' })}`;
      const answer = await sendBytes(fuzzed.url, Buffer.from(request));
      expectSound(answer, [value]);
      // To Node, the bytes of a header are Latin-1.
      const name = trim(Buffer.from(value).toString('latin1'));
      if (answer.status === 200) expect(answer.body).toEqual({ ok: true, result: name });
      else expect([400, 401]).toContain(answer.status);
    }));
});

/** The head of a request without a body, after its first line. */
function head(headers: Readonly<Record<string, string>>): string {
  const all = {
    Host: 'localhost',
    Connection: 'close',
    'Content-Length': '0',
    Authorization: 'Bearer ann',
    ...headers,
  };
  return `${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
}
