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
    epoch: 'epoch',
    views: 'views',
    clientGroupID: noGroup,
    mutations: 0,
    tick: null,
    audit: null,
    position: 'a/1',
    shapes: '1:abc',
  },
  [...secrets],
);

describe('a token', () => {
  it('stands for its cookie, and fits into a header, an entity tag and a URL', () => {
    const token = tokenOf(cookie)!;
    expect(token).toMatch(/^[\w-]+$/);
    expect(cookieIn(token)).toEqual(cookie);
    expect(openCookie(cookieIn(token), [...secrets])).toMatchObject({ snapshot: '5:9:5,7' });
    expect(isToken(token)).toBe(true);
  });

  it('keeps what a cookie of a later version has besides', () => {
    const { signature: _, ...fields } = cookie;
    const later = sealCookie({ ...fields, later: 'x' } as CookieFields, [...secrets]);
    expect(cookieIn(tokenOf(later)!)).toEqual(later);
    expect(openCookie(cookieIn(tokenOf(later)!), [...secrets])).toMatchObject({ position: 'a/1', later: 'x' });
  });

  const { signature: _, ...fields } = cookie;
  const withSnapshot = (snapshot: string) => sealCookie({ ...fields, snapshot }, [...secrets]);

  it("stands for any primary's or standby's snapshot", () => {
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

  /** A snapshot with transactions in progress, up to twice `mean` transaction IDs apart. */
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
  ])('takes less than 3.5 kB for %i transactions in progress, %i apart', (count, mean) => {
    const token = tokenOf(inProgress(count, mean))!;
    expect(token.length).toBeLessThanOrEqual(3_500);
    expect(cookieIn(token)).toEqual(inProgress(count, mean));
  });

  it('is undefined rather than longer', () => {
    expect(tokenOf(inProgress(3_000, 1_000))).toBeUndefined();
    expect(openCookie(cookieIn(noState), [...secrets])).toBeUndefined();
  });

  it('inflates to no more than it should contain', () => {
    const bomb = deflateRawSync(`[${'0,'.repeat(5_000_000)}0]`).toString('base64url');
    expect(cookieIn(bomb)).toBe(bomb);
  });

  it('that is empty stands for no cookie', () => {
    expect([cookieIn(''), isToken('')]).toEqual([null, false]);
  });

  it.each(['x', '*', 'W10', 'bnVsbA', 'e30', tokenOf(cookie)!.slice(1), tokenOf(cookie)!.slice(0, -4)])(
    '%s stands for none that could be opened',
    (token) => {
      expect(isToken(token)).toBe(false);
      expect(openCookie(cookieIn(token), [...secrets])).toBeUndefined();
      expect(cookieIn(token)).not.toBeNull();
    },
  );
});
