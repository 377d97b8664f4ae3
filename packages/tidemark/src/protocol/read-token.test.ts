import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CookieFields, openCookie, sealCookie } from './cookie.js';
import { noGroup } from './pull.js';
import { cookieIn, isToken, noState, tokenOf } from './read-token.js';

const secrets = ['secret'] as const;
const cookie = sealCookie(
  {
    order: 7168,
    snapshot: '5:9:5,7',
    next: '9',
    databaseID: 'epoch',
    views: 'views',
    clientGroupID: noGroup,
    mutations: 0,
    heartbeat: null,
    consistencyCheck: null,
    walPosition: 'a/1',
    schemaHashes: '1:abc',
  },
  [...secrets],
);

describe('a read token', () => {
  it('encodes its cookie, and fits into a header, an entity tag and a URL', () => {
    const token = tokenOf(cookie)!;
    expect(token).toMatch(/^[\w-]+$/);
    expect(cookieIn(token)).toEqual(cookie);
    expect(openCookie(cookieIn(token), [...secrets])).toMatchObject({ snapshot: '5:9:5,7' });
    expect(isToken(token)).toBe(true);
  });

  it('keeps additional fields of a later version', () => {
    const { signature: _, ...fields } = cookie;
    const later = sealCookie({ ...fields, later: 'x' } as CookieFields, [...secrets]);
    expect(cookieIn(tokenOf(later)!)).toEqual(later);
    expect(openCookie(cookieIn(tokenOf(later)!), [...secrets])).toMatchObject({ walPosition: 'a/1', later: 'x' });
  });

  const { signature: _, ...fields } = cookie;
  const withSnapshot = (snapshot: string) => sealCookie({ ...fields, snapshot }, [...secrets]);

  it('encodes any snapshot of a primary or a standby', () => {
    const xids = fc.uniqueArray(fc.bigInt({ min: 3n, max: 2n ** 63n - 1n }), { maxLength: 50 });
    fc.assert(
      fc.property(xids, (list) => {
        const xip = list.toSorted((a, b) => (a < b ? -1 : 1));
        const snapshot = `${xip[0] ?? 3n}:${(xip.at(-1) ?? 3n) + 1n}:${xip.join()}`;
        expect(cookieIn(tokenOf(withSnapshot(snapshot))!)).toEqual(withSnapshot(snapshot));
      }),
    );
    expect(cookieIn(tokenOf(withSnapshot('5:9:~AyEA'))!)).toEqual(withSnapshot('5:9:~AyEA'));
  });

  /** Returns a cookie whose snapshot has transactions in progress, up to twice `mean` transaction IDs apart. */
  const inProgress = (count: number, mean: number) => {
    let xid = 4_000_000_000;
    const xip = Array.from({ length: count }, (_, i) => {
      const random = createHash('sha256').update(String(i)).digest().readUInt32BE() / 2 ** 32;
      xid += 1 + Math.floor(random * (2 * mean - 1));
      return xid;
    });
    return withSnapshot(`${xip[0]}:${xid + 1}:${xip.join()}`);
  };

  it.each([
    [1_000, 1_000],
    [2_000, 1],
    [2_000, 20],
  ])('is at most 3.5 kB long for %i transactions in progress, %i apart', (count, mean) => {
    const token = tokenOf(inProgress(count, mean))!;
    expect(token.length).toBeLessThanOrEqual(3_500);
    expect(cookieIn(token)).toEqual(inProgress(count, mean));
  });

  it('is undefined if it would be longer', () => {
    expect(tokenOf(inProgress(3_000, 1_000))).toBeUndefined();
    expect(openCookie(cookieIn(noState), [...secrets])).toBeUndefined();
  });

  it('is not inflated beyond a limit', () => {
    const bomb = deflateRawSync(`[${'0,'.repeat(5_000_000)}0]`).toString('base64url');
    expect(cookieIn(bomb)).toBe(bomb);
  });

  it('means no cookie if it is empty', () => {
    expect([cookieIn(''), isToken('')]).toEqual([null, false]);
  });

  it.each(['x', '*', 'W10', 'bnVsbA', 'e30', tokenOf(cookie)!.slice(1), tokenOf(cookie)!.slice(0, -4)])(
    'is invalid if it is %s',
    (token) => {
      expect(isToken(token)).toBe(false);
      expect(openCookie(cookieIn(token), [...secrets])).toBeUndefined();
      expect(cookieIn(token)).not.toBeNull();
    },
  );
});
