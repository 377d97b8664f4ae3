/** Damaged requests. */
import fc from 'fast-check';
import type { DocumentedCall } from './documented.js';
import { naughtyStrings } from './naughty.js';
import { marker, type SentRequest } from './sent.js';

type Damage = (request: SentRequest) => SentRequest;

/** Applies one to three changes, one after the other, to a correct call. */
export function damaged(calls: fc.Arbitrary<DocumentedCall>): fc.Arbitrary<SentRequest> {
  return fc.tuple(calls, fc.array(damage, { minLength: 1, maxLength: 3 })).map(([{ path, args }, changes]) =>
    changes.reduce<SentRequest>((request, change) => change(request), {
      path,
      body: args === undefined ? undefined : JSON.stringify(args),
    }),
  );
}

const gone = Symbol('gone');
const naughty = fc.constantFrom(...naughtyStrings).map((text) => marker + text);
const deep = `${'['.repeat(300)}${']'.repeat(300)}`;

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  naughty,
  fc.constantFrom(null, '', -1, 0.5, 1e308, [], {}, [[]], '\0', '\ud800', 'x'.repeat(2_000), JSON.parse(deep)),
);

const junkKey = fc.oneof(
  naughty,
  fc.constantFrom('', '__proto__', 'constructor', 'toString', '\0', '\udfff', 'a/b', '0'),
);

/** A header that `fetch` can send. */
const headerValue = fc
  .oneof(
    naughty,
    fc.string(),
    fc.constantFrom('tx=rollback', 'a', '"a"', '', 'gzip', 'identity', 'application/json;', 'text/plain', 'cross-site'),
  )
  .filter((value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value));

const headerName = fc.constantFrom(
  'Content-Type', 'Content-Encoding', 'Prefer', 'Idempotency-Key', 'Authorization', 'Sec-Fetch-Site', 'Accept', 'Accept-Encoding',
  'X-Sync-RequestID', 'X-HTTP-Method-Override', 'X-Forwarded-Host', 'Origin', 'Range', 'If-Match',
); // biome-ignore format: a row of names

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.nat().map((at) => inBody((body) => edit(body, at, () => gone))),
  fc.tuple(fc.nat(), junk).map(([at, value]) => inBody((body) => edit(body, at, () => value))),
  fc
    .tuple(fc.nat(), junkKey, junk)
    .map(([at, key, value]) => inBody((body) => edit(body, at, (node) => add(node, key, value)))),
  fc.nat().map((at) => inText((text) => text.slice(0, at % (text.length + 1)))),
  fc
    .tuple(fc.nat(), fc.string({ unit: 'binary', maxLength: 3 }))
    .map(([at, more]) =>
      inText((text) => text.slice(0, at % (text.length + 1)) + more + text.slice((at % (text.length + 1)) + 1)),
    ),
  fc
    .constantFrom('\ufeff', ' ', '\0', ',', '//', '1e999', '12345678901234567890')
    .map((more) => inText((text) => more + text)),
  fc.constantFrom('GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND').map(
    (method): Damage =>
      (request) => ({ ...request, method }),
  ),
  fc.tuple(headerName, fc.option(headerValue, { nil: undefined })).map(
    ([name, value]): Damage =>
      (request) => ({ ...request, headers: { ...request.headers, [name]: value } }),
  ),
  fc
    .oneof(
      naughty.map(encodeURIComponent),
      fc.constantFrom('', '/', '/x', '//', '%', '%ff', '%00', '/..', '/../..', '?a=b', ';', '~'),
    )
    .map(
      (more): Damage =>
        (request) => ({ ...request, path: request.path + more }),
    ),
  fc.constant<Damage>((request) => ({ ...request, path: '/api/mutators' })),
  fc.constant<Damage>((request) => ({
    ...request,
    path: '/api/mutators',
    body: `[{"name":"echo.any","args":${request.body}}]`,
  })),
);

function inText(change: (text: string) => string): Damage {
  return (request) => (typeof request.body === 'string' ? { ...request, body: change(request.body) } : request);
}

/** Leaves texts alone that are no longer JSON. */
function inBody(change: (value: unknown) => unknown): Damage {
  return inText((text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return text;
    }
    const changed = change(value);
    return changed === gone ? '' : JSON.stringify(changed);
  });
}

/** Changes one of the values that a value consists of. */
function edit(value: unknown, at: number, change: (node: unknown) => unknown): unknown {
  let left = at % count(value);
  const visit = (node: unknown): unknown => {
    if (left-- === 0) return change(node);
    if (Array.isArray(node)) return node.map(visit).filter((item) => item !== gone);
    if (typeof node !== 'object' || node === null) return node;
    const entries = Object.entries(node).map(([key, child]) => [key, visit(child)] as const);
    return Object.fromEntries(entries.filter(([, child]) => child !== gone));
  };
  return visit(value);
}

function count(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, child) => sum + count(child), 1);
}

function add(node: unknown, key: string, value: unknown): unknown {
  if (Array.isArray(node)) return [...node, value];
  if (typeof node !== 'object' || node === null) return Object.fromEntries([[key, value]]);
  return Object.fromEntries([...Object.entries(node), [key, value]]);
}
