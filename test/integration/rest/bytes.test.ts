/** Bytes that are barely HTTP, or that no client would send. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Fuzzed, fuzzedMutators, serveFuzzed } from './fuzzed.js';
import { expectSound, sendBytes } from './sent.js';

let fuzzed: Fuzzed;

beforeAll(async () => {
  fuzzed = await serveFuzzed(fuzzedMutators);
});

afterAll(() => fuzzed.close());

const path = '/api/mutators/echo/any';
const common =
  'Host: localhost\r\nAuthorization: Bearer ann\r\nConnection: close\r\nContent-Type: application/json\r\n';

it.each([
  ['no host', `POST ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`, 400],
  ['an invalid host', `POST ${path} HTTP/1.1\r\nHost: a b/?#\r\nConnection: close\r\n\r\n`, 400],
  ['no version', `POST ${path}\r\n\r\n`, 400],
  ['an invalid method', `post ${path} HTTP/1.1\r\n${common}\r\n`, 400],
  ['the method TRACE', `TRACE ${path} HTTP/1.1\r\n${common}\r\n`, 405],
  ['an absolute URL', `POST http://elsewhere${path} HTTP/1.1\r\n${common}Content-Length: 1\r\n\r\n7`, 200],
  ['an invalid URL', `POST http://[${path} HTTP/1.1\r\n${common}\r\n`, 400],
  ['the target *', `OPTIONS * HTTP/1.1\r\n${common}\r\n`, 400],
  ['an invalid length', `POST ${path} HTTP/1.1\r\n${common}Content-Length: x\r\n\r\n7`, 400],
  ['two lengths', `POST ${path} HTTP/1.1\r\n${common}Content-Length: 1\r\nContent-Length: 2\r\n\r\n77`, 400],
  [
    'a length and chunks',
    `POST ${path} HTTP/1.1\r\n${common}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  ['chunks', `POST ${path} HTTP/1.1\r\n${common}Transfer-Encoding: chunked\r\n\r\n1\r\n7\r\n0\r\n\r\n`, 200],
  ['invalid chunks', `POST ${path} HTTP/1.1\r\n${common}Transfer-Encoding: chunked\r\n\r\nzz\r\n7\r\n0\r\n\r\n`, 400],
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
])('a request with %s gets a correct response', async (_, bytes, status) => {
  const answer = await sendBytes(fuzzed.url, Buffer.from(bytes));
  expectSound(answer);
  expect(answer.status, answer.text).toBe(status);
});
