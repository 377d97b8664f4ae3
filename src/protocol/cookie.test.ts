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

/** Replicache's comparison of orders: two numbers by value, anything else as strings by UTF-16 unit. */
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
/** 2⁴² transactions are 139 years at 1,000 a second. */
const finished = fc.bigInt({ min: 3n, max: 1n << 42n });

describe('nextOrder', () => {
  it('is above the previous order, whatever that is', () => {
    fc.assert(
      fc.property(order, finished, (previous, count) => {
        expect(compare(nextOrder(previous, count), previous)).toBeGreaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });

  it('stays above it, and above itself, pull after pull', () => {
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

  it('rises with the number of finished transactions, from one cookie', () => {
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

  it('is a safe integer wherever it is a number, and survives JSON', () => {
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
  ])('%s, %d transactions: %s', (previous, count, next) => {
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
])('the order of %j is %s', (cookie, expected) => {
  expect(orderOf(cookie)).toBe(expected);
});

describe('openCookie', () => {
  const secrets: Secrets = ['secret'];
  const snapshot = '10:20:10,15';
  const fields = {
    order: 5,
    snapshot,
    next: '21',
    epoch: 'e',
    views: 'v',
    clientGroupID: 'g',
    mutations: 3,
    tick: 't',
    audit: 'a',
    position: '0123456789ab/77',
    shapes: '1:s',
  };
  let sealed: Cookie;
  beforeAll(() => {
    sealed = sealCookie(fields, secrets);
  });

  it.each([{}, { order: 'seven' }, { next: '20' }, { tick: null }])('reads what was sealed: %j', (change) => {
    const cookie = sealCookie({ ...fields, ...change }, secrets);
    const opened = openCookie(JSON.parse(JSON.stringify(cookie)), secrets);
    const parsedNext = BigInt(cookie.next);
    const meaning = {
      parsedSnapshot: parseSnapshot(snapshot),
      parsedNext,
      parsedPosition: { timeline: '0123456789ab', lsn: 77n },
    };
    expect(opened).toEqual({ ...cookie, ...meaning, isOutdated: false });
    expect(cookie.signature).toMatch(/^[\w-]{22}$/);
  });

  it.each<[string, object]>([
    ['order', { order: 6 }],
    ['order as a string', { order: '5' }],
    ['order missing', { order: undefined }],
    ['snapshot', { snapshot: '10:20:10' }],
    ['next transaction', { next: '22' }],
    ['next transaction as a number', { next: 21 }],
    ['epoch', { epoch: 'f' }],
    ['views', { views: 'w' }],
    ['client group', { clientGroupID: 'h' }],
    ['client group missing', { clientGroupID: null }],
    ['sum of mutations', { mutations: 4 }],
    ['sum of mutations as a string', { mutations: '3' }],
    ['tick', { tick: 'u' }],
    ['tick taken away', { tick: null }],
    ['tick missing', { tick: undefined }],
    ['audit', { audit: 'b' }],
    ['audit taken away', { audit: null }],
    ['audit missing', { audit: undefined }],
    ['position', { position: '0123456789ab/78' }],
    ['position as a number', { position: 77 }],
    ['position taken away', { position: undefined }],
    ['position missing', { position: null }],
    ['shapes', { shapes: '1:t' }],
    ['shapes taken away', { shapes: undefined }],
    ['name of a field', { audit: 't', tick: 'a' }],
    ['number of fields', { more: 1 }],
    ['two fields that run together', { epoch: 'ev', views: '' }],
    ['signature', { signature: 'A'.repeat(22) }],
    ['empty signature', { signature: '' }],
    ['signature of another type', { signature: 5 }],
  ])('refuses another %s', (_, change) => {
    expect(openCookie({ ...sealed, ...change }, secrets)).toBeUndefined();
    expect(openCookie(JSON.parse(JSON.stringify({ ...sealed, ...change })), secrets)).toBeUndefined();
  });

  it('refuses another signature by a single character, and a part of it', () => {
    const [first, ...rest] = sealed.signature;
    const other = [first === 'A' ? 'B' : 'A', ...rest].join('');
    expect(openCookie({ ...sealed, signature: other }, secrets)).toBeUndefined();
    expect(openCookie({ ...sealed, signature: rest.join('') }, secrets)).toBeUndefined();
  });

  it('keeps signed fields of a later version, whatever their order', () => {
    const later = sealCookie({ ...fields, later: 'x', more: 7 } as CookieFields, secrets);
    const opened = openCookie(Object.fromEntries(Object.entries(later).reverse()), secrets);
    expect(opened).toMatchObject(later);
    for (const change of [{ later: 'y' }, { more: undefined }, { another: 1 }]) {
      expect(openCookie(JSON.parse(JSON.stringify({ ...later, ...change })), secrets)).toBeUndefined();
    }
  });

  it('refuses fields that are objects, though they be signed', () => {
    for (const later of [{}, [], { a: 1 }]) {
      expect(openCookie(sealCookie({ ...fields, later } as CookieFields, secrets), secrets)).toBeUndefined();
    }
  });

  it('refuses a genuine one whose position makes no sense', () => {
    expect(openCookie(sealCookie({ ...fields, position: '77' }, secrets), secrets)).toBeUndefined();
  });

  it('refuses a field that is not signed', () => {
    expect(openCookie({ ...sealed, more: 1 }, secrets)).toBeUndefined();
  });

  it('tells which secret has signed', () => {
    expect(openCookie(sealed, ['new', ...secrets])).toMatchObject({ isOutdated: true });
    expect(openCookie(sealed, [...secrets, 'old'])).toMatchObject({ isOutdated: false });
  });

  it('refuses another secret', () => {
    expect(openCookie(sealed, ['other'])).toBeUndefined();
  });

  it('refuses any change of any field', () => {
    const keys = Object.keys(sealed) as (keyof Cookie)[];
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.jsonValue(), (key, value) => {
        fc.pre(value !== sealed[key]);
        expect(openCookie({ ...sealed, [key]: value }, secrets)).toBeUndefined();
      }),
    );
  });

  it('never throws, whatever it is given', () => {
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
    { epoch: 1 },
    { views: null },
    { clientGroupID: 7 },
    { mutations: '3' },
    { tick: 5 },
  ])('refuses %j, even if it is sealed', (change) => {
    const cookie = sealCookie({ ...fields, ...change } as typeof fields, secrets);
    expect(openCookie(cookie, secrets)).toBeUndefined();
  });

  it('unpacks nothing that is not signed', () => {
    const bomb = deflateRawSync('1,'.repeat(5_000_000)).toString('base64url');
    const sent = { ...sealed, snapshot: `10:20:~${bomb}` };
    const before = process.memoryUsage().arrayBuffers;
    expect(openCookie(sent, secrets)).toBeUndefined();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });
});

it('a digest tells apart parts that run together', () => {
  expect(digest(['a', 'b'])).not.toBe(digest(['ab']));
  expect(digest(['a', 'b'])).not.toBe(digest(['a,b']));
  expect(digest(['a'])).toMatch(/^[\w-]{16}$/);
});
