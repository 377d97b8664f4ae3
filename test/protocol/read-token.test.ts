import { describe, expect, it } from 'vitest';
import { type CookieFields, openCookie, sealCookie } from '../../src/protocol/cookie.js';
import { noGroup } from '../../src/protocol/pull.js';
import { cookieIn, isToken, tokenOf } from '../../src/protocol/read-token.js';

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
  },
  [...secrets],
);

describe('a token', () => {
  it('stands for its cookie, and fits into a header, an entity tag and a URL', () => {
    const token = tokenOf(cookie);
    expect(token).toMatch(/^[\w-]+$/);
    expect(cookieIn(token)).toEqual(cookie);
    expect(openCookie(cookieIn(token), [...secrets])).toMatchObject({ snapshot: '5:9:5,7' });
    expect(isToken(token)).toBe(true);
  });

  it('keeps what a cookie of the second form has besides, and one of a later form', () => {
    const { signature: _, ...fields } = cookie;
    const later = sealCookie({ ...fields, position: 'a/1', later: 'x' } as CookieFields, [...secrets]);
    expect(cookieIn(tokenOf(later))).toEqual(later);
    expect(openCookie(cookieIn(tokenOf(later)), [...secrets])).toMatchObject({ position: 'a/1', later: 'x' });
  });

  it('that is empty stands for no cookie', () => {
    expect([cookieIn(''), isToken('')]).toEqual([null, false]);
  });

  it.each(['x', '*', 'W10', 'bnVsbA', 'e30', tokenOf(cookie).slice(1), `${tokenOf(cookie).slice(0, -4)}`])(
    '%s stands for none that could be opened',
    (token) => {
      expect(isToken(token)).toBe(false);
      expect(openCookie(cookieIn(token), [...secrets])).toBeUndefined();
      expect(cookieIn(token)).not.toBeNull();
    },
  );
});
