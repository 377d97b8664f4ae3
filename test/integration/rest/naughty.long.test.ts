/** Texts and bytes that are hard for servers: each comes back equal, or is clearly refused. */
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

/** Runs a few at a time. */
async function each<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
    }),
  );
}

/** The JSON text of these bytes, in one spelling; undefined if they are not JSON. */
function read(bytes: Uint8Array): string | undefined {
  try {
    return json(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return undefined;
  }
}

/** `y_` cases must come back, `n_` cases must be refused, and other cases must come back unless they are refused. */
function expectEcho(name: string, { status, text }: Received, result: unknown, wanted: string | undefined): void {
  if (name.startsWith('y_')) expect(status, `${name}: ${text}`).toBe(200);
  if (wanted === undefined) expect(status, `${name}: ${text}`).toBe(400);
  if (status === 200) expect(json(result), name).toBe(wanted);
  else expect([400, 422], `${name}: ${text}`).toContain(status);
}

/** Texts that a header can hold, each once, because one of two simultaneous requests with the same key is refused. */
const headerValues = [...new Set(naughtyStrings.map((text) => trim(text.replace(/[\r\n]/g, ' '))))];

/** Spaces around a header's value are not part of it. */
function trim(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}

describe('the JSON test suite', () => {
  it('is complete', () => {
    expect(jsonCases.length).toBeGreaterThan(318);
    expect(naughtyStrings.length).toBeGreaterThan(480);
  });

  it('comes back equal, or is refused, as args', () =>
    each(jsonCases, async ({ name, bytes }) => {
      const answer = await post('/echo/any', bytes);
      expectSound(answer);
      // An empty body means no args.
      if (bytes.byteLength === 0) expect(answer.body).toEqual({ ok: true });
      else expectEcho(name, answer, answer.body?.result, read(bytes));
      if (name.startsWith('n_') && bytes.byteLength > 0) expect(answer.status, name).toBe(400);
    }));

  it('comes back equal, or is refused, as the args of a batch entry', () =>
    each(jsonCases, async ({ name, bytes }) => {
      const batch = Buffer.concat([Buffer.from('[{"name":"echo.any","args":'), bytes, Buffer.from('}]')]);
      const answer = await post('', batch);
      expectSound(answer);
      const wanted = read(batch);
      const args = wanted === undefined ? undefined : json((JSON.parse(wanted) as [{ args: unknown }])[0].args);
      const [entry] = Array.isArray(answer.body) ? (answer.body as { result: unknown }[]) : [];
      expectEcho(name, answer, entry?.result, args);
    }));

  it('is refused as a batch, except for the empty array', () =>
    each(jsonCases, async ({ name, bytes }) => {
      const answer = await post('', bytes);
      expectSound(answer);
      // Only the empty array is a batch.
      expect(answer.status, name).toBe(read(bytes) === '[]' ? 200 : 400);
    }));
});

describe('naughty strings', () => {
  it('come back equal as args', () =>
    each(naughtyStrings, async (text) => {
      for (const path of ['/echo/any', '/echo/text']) {
        expect((await post(path, json(text))).body).toEqual({ ok: true, result: text });
      }
    }));

  it('come back equal as keys and values', () =>
    each(naughtyStrings, async (text) => {
      const args = json(Object.fromEntries([[text, [text, Object.fromEntries([[text, text]])]]]));
      expect((await post('/echo/any', args)).text).toBe(`{"ok":true,"result":${args}}`);
    }));

  it('are refused, and not repeated, as args of another type', () =>
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

  it('are unknown as the name of a mutator', () =>
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

  it('are refused, and not repeated, as the bytes of a path', () =>
    each(naughtyStrings, async (text) => {
      const answer = await sendBytes(fuzzed.url, Buffer.from(`POST ${api}/${text} HTTP/1.1\r\n${head({})}`));
      expectSound(answer, [text]);
      expect([400, 404, 405]).toContain(answer.status);
    }));

  it.each(['Idempotency-Key', 'Prefer', 'Content-Type', 'X-Sync-RequestID'])('do no harm in the header %s', (header) =>
    each(headerValues, async (value) => {
      for (const bytes of [value, `"${value}"`, `tx=${value}`]) {
        // Each value has its own caller, because two values, escaped and quoted, can be the same key.
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

  it('identify the caller of that name, or are refused', () =>
    each(headerValues, async (value) => {
      const request = `POST ${api}/echo/user HTTP/1.1\r\n${head({ Authorization: `Bearer ${value}`, 'Idempotency-Key': 'shared' })}`;
      const answer = await sendBytes(fuzzed.url, Buffer.from(request));
      expectSound(answer, [value]);
      // Node reads the bytes of a header as Latin-1.
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
