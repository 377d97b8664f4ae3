/** Requests that no client sends, to every endpoint. */
import { gzipSync } from 'node:zlib';
import { mutation, pullBody, pushBody } from '../../integration/conformance/wire.js';
import { jsonCases, naughtyStrings } from '../../integration/rest/naughty.js';
import type { SentRequest } from '../../integration/rest/sent.js';

const json = JSON.stringify;

/** Names that every object already has, and texts that are difficult to compare or to store. */
export const texts: readonly string[] = [
  ...naughtyStrings,
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '\0', '\ud800', 'a\udfff', 'x'.repeat(5_000)],
];

const paths = ['/sync/pull', '/sync/push', '/api/mutators', '/api/mutators/note', '/api/mutators/work'];

const bodies: readonly SentRequest['body'][] = [
  ...jsonCases.map(({ bytes }) => bytes as Uint8Array<ArrayBuffer>),
  `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
  `{"a":${'{"a":'.repeat(50_000)}`,
  `[${'9'.repeat(100_000)}]`,
  '{"pullVersion":1e400,"pushVersion":-1e400}',
  '{"__proto__":{"pullVersion":1,"pushVersion":1,"name":"work"}}',
  json(pullBody({ __proto__: null, cookie: { order: 1e308, snapshot: '9'.repeat(10_000) } })),
  json(pushBody([mutation(Number.MAX_SAFE_INTEGER, 'work', {})])),
  json(Array.from({ length: 10_000 }, () => ({ name: 'nobody' }))),
];

/** Replaces the text parts of a read, one at a time. */
function readsWith(text: string): SentRequest[] {
  const path = '/api/views/document';
  const [name, quoted] = [encodeURIComponent(text.toWellFormed()), `"${text}"`];
  const query = ['since', 'profileID', 'schemaVersion'].map(
    (field) => `${path}?${new URLSearchParams({ [field]: text })}`,
  );
  const headers = [
    { 'If-None-Match': quoted },
    { Prefer: `wait=${text}` },
    { Accept: text },
    { 'Last-Event-ID': text },
  ];
  return [
    ...[`/api/views/${name}`, `${path}/${name}`, ...query].map((path) => ({ path, method: 'GET' })),
    ...headers
      .filter((sent) => Object.values(sent).every(isHeaderValue))
      .map((sent) => ({ path, method: 'GET', headers: sent })),
  ];
}

/** True if clients can send a text as a header's value. */
function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}

/** Replaces the text fields of each body, one at a time. */
function withText(text: string): SentRequest[] {
  const pulls = ['clientGroupID', 'profileID', 'schemaVersion', 'cookie'].map((field) => pullBody({ [field]: text }));
  const cookies = ['order', 'snapshot', 'signature'].map((field) => pullBody({ cookie: { order: 1, [field]: text } }));
  const pushes = ['clientGroupID', 'profileID', 'schemaVersion'].map((field) => pushBody([], { [field]: text }));
  const mutations = [mutation(1, text, null), mutation(1, 'work', text), mutation(1, 'nobody', {}, text)];
  const query = new URLSearchParams({ clientGroupID: text, profileID: text, schemaVersion: text });
  return [
    ...[...pulls, ...cookies].map((body) => ({ path: '/sync/pull', body: json(body) })),
    ...[...pushes, ...mutations.map((one) => pushBody([one], { clientGroupID: `of ${text}` }))].map((body) => ({
      path: '/sync/push',
      body: json(body),
    })),
    { path: `/api/mutators/${encodeURIComponent(text.toWellFormed())}`, body: '{}' },
    { path: '/api/mutators', body: json([{ name: text, args: text }]) },
    // Gets an error response; otherwise it would not end.
    { path: `/sync/poke?${query}`, method: 'POST' },
    { path: `/${encodeURIComponent(text.toWellFormed())}`, method: 'GET' },
  ];
}

/** Bodies that are large, or become so when decompressed. */
export function bombs(): SentRequest[] {
  const zeros = gzipSync(Buffer.alloc(100 * 2 ** 20)) as Uint8Array<ArrayBuffer>;
  const large = json({ ...pushBody([]), padding: 'x'.repeat(17 * 2 ** 20) });
  return paths.flatMap((path) => [
    { path, body: zeros, headers: { 'Content-Encoding': 'gzip' } },
    { path, body: zeros },
    { path, body: large },
    {
      path,
      body: '{}',
      headers: { 'Content-Length': undefined, 'Transfer-Encoding': undefined, 'X-Padding': 'x'.repeat(15_000) },
    },
  ]);
}

/** @param every takes one out of this many */
export function hostileRequests(every: number): SentRequest[] {
  const all = [
    ...paths.flatMap((path) => bodies.map((body) => ({ path, body }))),
    ...texts.flatMap(withText),
    ...texts.flatMap(readsWith),
    ...paths.flatMap((path) => ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => ({ path, method }))),
  ];
  return all.filter((_, i) => i % every === 0);
}
