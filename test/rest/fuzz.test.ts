/**
 * Random requests, right ones and damaged ones, as a document of the mutators describes them. The same in each run, but for
 * `FUZZ_RUNS=20000 npx vitest run test/rest/fuzz.test.ts`, which sends as many of each kind, and others each time.
 */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { damaged } from './damaged.js';
import { type DocumentedCall, documentedCalls, documentOf, type RequestDocument } from './documented.js';
import { type Fuzzed, fuzzedMutators, serveFuzzed } from './fuzzed.js';
import { expectSound, type Received, send, sendBytes } from './sent.js';

const runs = process.env.FUZZ_RUNS === undefined ? undefined : Number(process.env.FUZZ_RUNS);
const timeout = 60_000 + (runs ?? 0) * 200;

/** What is tried: any mutators, and any document that describes them. */
const mutators = fuzzedMutators;
const document: RequestDocument = documentOf(mutators);

const calls = documentedCalls(document);

let fuzzed: Fuzzed;

beforeAll(async () => {
  fuzzed = await serveFuzzed(mutators);
});

afterAll(() => fuzzed.close());

afterEach(async () => {
  expect((await send(fuzzed.url, { method: 'GET', path: '/readyz' })).status).toBe(200);
  expect(fuzzed.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

function holds<Value>(values: fc.Arbitrary<Value>, usualRuns: number, property: (value: Value) => Promise<void>) {
  const settings = runs === undefined ? { numRuns: usualRuns, seed: 1 } : { numRuns: runs };
  return fc.assert(fc.asyncProperty(values, property), settings);
}

/** A mutator may refuse; the validator may not, for the document says that the args are right. */
function expectTaken(answer: Received): void {
  expectSound(answer);
  expect(answer.status, answer.text).not.toBe(422);
  if (answer.status !== 200) expect(answer.body).toMatchObject({ code: 'mutator-error' });
}

const bodyOf = ({ args }: DocumentedCall) => (args === undefined ? undefined : JSON.stringify(args));
const nameOf = ({ path }: DocumentedCall) => path.slice('/api/mutators/'.length).replaceAll('/', '.');

describe('requests as they are documented', () => {
  test(
    'are taken',
    () =>
      holds(calls, 400, async (call) => {
        expectTaken(await send(fuzzed.url, { path: call.path, body: bodyOf(call) }));
      }),
    timeout,
  );

  test(
    'are taken in batches, of which all or nothing is kept',
    () =>
      holds(fc.array(calls, { minLength: 1, maxLength: 5 }), 100, async (batch) => {
        const stored = async () => (await fuzzed.database.pool.query('select from echoed')).rowCount;
        const before = (await stored())!;
        const body = JSON.stringify(batch.map((call) => ({ name: nameOf(call), args: call.args })));
        const answer = await send(fuzzed.url, { path: '/api/mutators', body });
        expectTaken(answer);
        if (answer.status === 200) expect(answer.body).toHaveLength(batch.length);
        expect(await stored()).toBe(before + (answer.status === 200 ? batch.length : 0));
      }),
    timeout,
  );

  test(
    'are answered the same in a dry run, which keeps nothing, and again with their key',
    () => {
      let n = 0;
      return holds(calls, 100, async (call) => {
        const request = { path: call.path, body: bodyOf(call) };
        const dry = await send(fuzzed.url, { ...request, headers: { Prefer: 'tx=rollback' } });
        const headers = { 'Idempotency-Key': `"key ${n++}"` };
        const first = await send(fuzzed.url, { ...request, headers });
        const again = await send(fuzzed.url, { ...request, headers });
        expectTaken(first);
        expect(dry.status).toBe(first.status);
        if (first.status !== 200) return;
        expect(dry.body).toEqual({ ...first.body, rolledBack: true });
        expect(again.text).toBe(first.text);
        expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      });
    },
    timeout,
  );
});

test(
  'damaged requests are taken or refused, and do no harm',
  async () => {
    const seen = new Set<number>();
    await holds(damaged(calls), 1_000, async (request) => {
      const answer = await send(fuzzed.url, request);
      expectSound(answer);
      if (answer.status >= 400 && request.method !== 'HEAD') expect(answer.body).toBeDefined();
      seen.add(answer.status);
    });
    // The damage is of every kind.
    expect([...seen]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 415, 422]));
  },
  timeout,
);

const path = '/api/mutators/echo/any';
const common =
  'Host: localhost\r\nAuthorization: Bearer ann\r\nConnection: close\r\nContent-Type: application/json\r\n';

test.each([
  ['no host', `POST ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`, 400],
  ['a host that is none', `POST ${path} HTTP/1.1\r\nHost: a b/?#\r\nConnection: close\r\n\r\n`, 400],
  ['no version', `POST ${path}\r\n\r\n`, 400],
  ['a method that is none', `post ${path} HTTP/1.1\r\n${common}\r\n`, 400],
  ['TRACE', `TRACE ${path} HTTP/1.1\r\n${common}\r\n`, 405],
  ['an address in full', `POST http://elsewhere${path} HTTP/1.1\r\n${common}Content-Length: 1\r\n\r\n7`, 200],
  ['an address that is none', `POST http://[${path} HTTP/1.1\r\n${common}\r\n`, 400],
  ['the address *', `OPTIONS * HTTP/1.1\r\n${common}\r\n`, 400],
  ['a length that is none', `POST ${path} HTTP/1.1\r\n${common}Content-Length: x\r\n\r\n7`, 400],
  ['two lengths', `POST ${path} HTTP/1.1\r\n${common}Content-Length: 1\r\nContent-Length: 2\r\n\r\n77`, 400],
  [
    'a length and chunks',
    `POST ${path} HTTP/1.1\r\n${common}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  ['chunks', `POST ${path} HTTP/1.1\r\n${common}Transfer-Encoding: chunked\r\n\r\n1\r\n7\r\n0\r\n\r\n`, 200],
  [
    'chunks that are none',
    `POST ${path} HTTP/1.1\r\n${common}Transfer-Encoding: chunked\r\n\r\nzz\r\n7\r\n0\r\n\r\n`,
    400,
  ],
  [
    'two content types',
    `POST ${path} HTTP/1.1\r\n${common}Content-Type: text/plain\r\nContent-Length: 1\r\n\r\n7`,
    415,
  ],
  ['a header of 20,000 bytes', `POST ${path} HTTP/1.1\r\n${common}Prefer: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  [
    '1,000 preferences',
    `POST ${path} HTTP/1.1\r\n${common}Prefer: ${'tx=x,'.repeat(1_000)}\r\nContent-Length: 0\r\n\r\n`,
    200,
  ],
])('bytes with %s', async (_, bytes, status) => {
  const answer = await sendBytes(fuzzed.url, Buffer.from(bytes));
  expectSound(answer);
  expect(answer.status, answer.text).toBe(status);
});
