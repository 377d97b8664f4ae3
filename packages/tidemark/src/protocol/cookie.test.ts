import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Cookie,
  type CookieFields,
  digest,
  nextOrder,
  type Order,
  openCookie,
  orderOf,
  type Secrets,
  sealCookie,
} from './cookie.js';
import { parseSnapshot } from './snapshot.js';

/** Compares orders as Replicache does: two numbers by value, anything else as strings, by UTF-16 unit. */
function compare(a: Order, b: Order): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [one, other] = [String(a), String(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

const jsonNumber = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(1e308, -1e308, 2 ** 53, 2 ** 53 - 1, 2 ** 53 - 2, 2 ** 53 - 3, 0.5, -0.5, 1e21, 5e-324),
  )
  .map((number) => JSON.parse(JSON.stringify(number)) as number);
const jsonString = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '9', '10', 'zzz', 'a/0000000000000001', 'a/9007199254740991', '/9999999999999999', '\uffff'),
);
const order = fc.oneof(jsonNumber, jsonString);
/** 2⁴² transactions take 139 years at 1,000 per second. */
const finished = fc.bigInt({ min: 3n, max: 1n << 42n });

describe('nextOrder', () => {
  it('is above any previous order', () => {
    fc.assert(
      fc.property(order, finished, (previous, count) => {
        expect(compare(nextOrder(previous, count), previous)).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });

  it('rises with each pull', () => {
    fc.assert(
      fc.property(order, fc.array(finished, { minLength: 2, maxLength: 20 }), (first, counts) => {
        let previous: Order = first;
        for (const count of counts) {
          const next = nextOrder(previous, count);
          expect(compare(next, previous)).toBeGreaterThan(0);
          expect(compare(next, first)).toBeGreaterThan(0);
          previous = next;
        }
      }),
    );
  });

  it('rises with the number of finished transactions since a cookie', () => {
    fc.assert(
      fc.property(fc.option(order, { nil: undefined }), finished, finished, (previous, a, b) => {
        const [fewer, more] = a < b ? [a, b] : [b, a];
        expect(compare(nextOrder(previous, more), nextOrder(previous, fewer))).toBeGreaterThanOrEqual(0);
        const target = Number(fewer * 1024n);
        if (fewer < more && (previous === undefined || (typeof previous === 'number' && previous < target - 1))) {
          expect(compare(nextOrder(previous, more), nextOrder(previous, fewer))).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('is a string or a safe integer, and survives JSON', () => {
    fc.assert(
      fc.property(fc.option(order, { nil: undefined }), finished, (previous, count) => {
        const next = nextOrder(previous, count);
        if (typeof next === 'number') expect(Number.isSafeInteger(next)).toBe(true);
        expect(JSON.parse(JSON.stringify(next))).toBe(next);
      }),
    );
  });

  it.each<[Order | undefined, bigint, Order]>([
    [undefined, 5n, 5120],
    [5120, 5n, 5121],
    [5121.5, 5n, 5122],
    [4000, 5n, 5120],
    [-1e308, 5n, 5120],
    [2 ** 53 - 3, 5n, 2 ** 53 - 2],
    [2 ** 53 - 2, 5n, '9007199254740990/0000000000005120'],
    [1e308, 5n, '1e+308/0000000000005120'],
    ['9', 5n, '9/0000000000005120'],
    ['9/0000000000005120', 5n, '9/0000000000005121'],
    ['9/0000000000005120', 6n, '9/0000000000006144'],
    ['abc/0000000000005120', 5n, 'abc/0000000000005121'],
    ['9/0000000000005120x', 5n, '9/0000000000005120x/0000000000005120'],
    ['9/9007199254740989', 5n, '9/9007199254740990'],
    ['9/9007199254740990', 5n, '9/9007199254740990/0000000000005120'],
    ['', 5n, '/0000000000005120'],
  ])('after %s and %d transactions is %s', (previous, count, next) => {
    expect(nextOrder(previous, count)).toBe(next);
  });
});

it.each<[unknown, Order | undefined]>([
  [null, undefined],
  [true, undefined],
  [7, 7],
  ['seven', 'seven'],
  [[], undefined],
  [{}, undefined],
  [{ order: 7 }, 7],
  [{ order: 'seven', more: 1 }, 'seven'],
  [{ order: null }, undefined],
  [{ order: { order: 7 } }, undefined],
])('the order of the cookie %j is %s', (cookie, expected) => {
  expect(orderOf(cookie)).toBe(expected);
});

describe('openCookie', () => {
  const secrets: Secrets = ['secret'];
  const snapshot = '10:20:10,15';
  const fields = {
    order: 5,
    snapshot,
    next: '21',
    databaseID: 'e',
    views: 'v',
    clientGroupID: 'g',
    mutations: 3,
    heartbeat: 't',
    consistencyCheck: 'a',
    walPosition: '0123456789ab/77',
    schemaHashes: '1:s',
  };
  let sealed: Cookie;
  beforeAll(() => {
    sealed = sealCookie(fields, secrets);
  });

  it.each([{}, { order: 'seven' }, { next: '20' }, { heartbeat: null }])(
    'opens a sealed cookie with the fields %j',
    (change) => {
      const cookie = sealCookie({ ...fields, ...change }, secrets);
      const opened = openCookie(JSON.parse(JSON.stringify(cookie)), secrets);
      const parsedNext = BigInt(cookie.next);
      const meaning = {
        parsedSnapshot: parseSnapshot(snapshot),
        parsedNext,
        parsedWalPosition: { timeline: '0123456789ab', lsn: 77n },
      };
      expect(opened).toEqual({ ...cookie, ...meaning, isOutdated: false });
      expect(cookie.signature).toMatch(/^[\w-]{22}$/);
    },
  );

  it.each<[string, object]>([
    ['another order', { order: 6 }],
    ['an order as a string', { order: '5' }],
    ['a missing order', { order: undefined }],
    ['another snapshot', { snapshot: '10:20:10' }],
    ['another next transaction', { next: '22' }],
    ['a next transaction as a number', { next: 21 }],
    ['another database ID', { databaseID: 'f' }],
    ['other views', { views: 'w' }],
    ['another client group', { clientGroupID: 'h' }],
    ['a null client group', { clientGroupID: null }],
    ['another sum of mutations', { mutations: 4 }],
    ['a sum of mutations as a string', { mutations: '3' }],
    ['another heartbeat', { heartbeat: 'u' }],
    ['a null heartbeat', { heartbeat: null }],
    ['a missing heartbeat', { heartbeat: undefined }],
    ['another consistency check', { consistencyCheck: 'b' }],
    ['a null consistency check', { consistencyCheck: null }],
    ['a missing consistency check', { consistencyCheck: undefined }],
    ['another WAL position', { walPosition: '0123456789ab/78' }],
    ['a WAL position as a number', { walPosition: 77 }],
    ['a missing WAL position', { walPosition: undefined }],
    ['a null WAL position', { walPosition: null }],
    ['other schema hashes', { schemaHashes: '1:t' }],
    ['missing schema hashes', { schemaHashes: undefined }],
    ['two swapped fields', { consistencyCheck: 't', heartbeat: 'a' }],
    ['an additional field', { more: 1 }],
    ['a different boundary between two fields', { databaseID: 'ev', views: '' }],
    ['another signature', { signature: 'A'.repeat(22) }],
    ['an empty signature', { signature: '' }],
    ['a signature of another type', { signature: 5 }],
  ])('rejects %s', (_, change) => {
    expect(openCookie({ ...sealed, ...change }, secrets)).toBeUndefined();
    expect(openCookie(JSON.parse(JSON.stringify({ ...sealed, ...change })), secrets)).toBeUndefined();
  });

  it('rejects a signature with one changed or one missing character', () => {
    const [first, ...rest] = sealed.signature;
    const other = [first === 'A' ? 'B' : 'A', ...rest].join('');
    expect(openCookie({ ...sealed, signature: other }, secrets)).toBeUndefined();
    expect(openCookie({ ...sealed, signature: rest.join('') }, secrets)).toBeUndefined();
  });

  it('keeps signed fields of a later version, in any order', () => {
    const later = sealCookie({ ...fields, later: 'x', more: 7 } as CookieFields, secrets);
    const opened = openCookie(Object.fromEntries(Object.entries(later).reverse()), secrets);
    expect(opened).toMatchObject(later);
    for (const change of [{ later: 'y' }, { more: undefined }, { another: 1 }]) {
      expect(openCookie(JSON.parse(JSON.stringify({ ...later, ...change })), secrets)).toBeUndefined();
    }
  });

  it('rejects fields that are objects, even if they are signed', () => {
    for (const later of [{}, [], { a: 1 }]) {
      expect(openCookie(sealCookie({ ...fields, later } as CookieFields, secrets), secrets)).toBeUndefined();
    }
  });

  it('rejects an invalid WAL position, even if it is signed', () => {
    expect(openCookie(sealCookie({ ...fields, walPosition: '77' }, secrets), secrets)).toBeUndefined();
  });

  it('rejects an unsigned field', () => {
    expect(openCookie({ ...sealed, more: 1 }, secrets)).toBeUndefined();
  });

  it('reports whether an older secret signed the cookie', () => {
    expect(openCookie(sealed, ['new', ...secrets])).toMatchObject({ isOutdated: true });
    expect(openCookie(sealed, [...secrets, 'old'])).toMatchObject({ isOutdated: false });
  });

  it('rejects a cookie signed with another secret', () => {
    expect(openCookie(sealed, ['other'])).toBeUndefined();
  });

  it('rejects any change of any field', () => {
    const keys = Object.keys(sealed) as (keyof Cookie)[];
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.jsonValue(), (key, value) => {
        fc.pre(value !== sealed[key]);
        expect(openCookie({ ...sealed, [key]: value }, secrets)).toBeUndefined();
      }),
    );
  });

  it('returns undefined for any JSON value that is not a cookie', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => openCookie(value, secrets) === undefined));
  });

  it.each<Partial<Record<keyof Cookie, unknown>>>([
    { order: null },
    { order: [5] },
    { snapshot: null },
    { snapshot: '1:2' },
    { snapshot: '1:2:~AAAA' },
    { next: 21 },
    { next: '' },
    { next: '-21' },
    { next: '0x21' },
    { next: '19' },
    { databaseID: 1 },
    { views: null },
    { clientGroupID: 7 },
    { mutations: '3' },
    { heartbeat: 5 },
  ])('rejects %j, even if it is sealed', (change) => {
    const cookie = sealCookie({ ...fields, ...change } as typeof fields, secrets);
    expect(openCookie(cookie, secrets)).toBeUndefined();
  });

  it('decompresses nothing that is not signed', () => {
    const bomb = deflateRawSync('1,'.repeat(5_000_000)).toString('base64url');
    const sent = { ...sealed, snapshot: `10:20:~${bomb}` };
    const before = process.memoryUsage().arrayBuffers;
    expect(openCookie(sent, secrets)).toBeUndefined();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });
});

it('a digest depends on the boundaries between its parts', () => {
  expect(digest(['a', 'b'])).not.toBe(digest(['ab']));
  expect(digest(['a', 'b'])).not.toBe(digest(['a,b']));
  expect(digest(['a'])).toMatch(/^[\w-]{16}$/);
});
