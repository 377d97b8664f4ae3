import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  audience,
  claimsOf,
  createSigner,
  issuer,
  now,
  pemOf,
  sign,
  withToken,
} from '../../../../test/integration/auth/tokens.js';
import { jwtAuth } from './jwt.js';

const signer = createSigner();
const publicKey = pemOf(signer);
const secret = 'a secret of no less than thirty-two bytes';
const key = { key: { publicKey }, algorithms: ['ES256'] } as const;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('a token', () => {
  it('identifies the user by its sub, and expires at its exp', async () => {
    const exp = now() + 60;
    expect(await jwtAuth(key)(withToken(await sign(signer, { exp })))).toEqual({
      userID: 'ann',
      expiresAt: new Date(exp * 1000),
    });
  });

  it('expires at the last valid date if its exp is later', async () => {
    const context = await jwtAuth(key)(withToken(await sign(signer, { exp: 1e300 })));
    expect(context!.expiresAt!.getTime()).toBe(8.64e15);
  });

  it.each([
    ['RS256', createSigner('RS256')],
    ['ES256', signer],
  ] as const)('is verified with %s', async (algorithm, ownSigner) => {
    const authenticate = jwtAuth({ key: { publicKey: pemOf(ownSigner) }, algorithms: [algorithm] });
    expect(await authenticate(withToken(await sign(ownSigner)))).toMatchObject({ userID: 'ann' });
    const foreignToken = await sign(createSigner(algorithm));
    await expect(authenticate(withToken(foreignToken))).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('is verified with EdDSA', async () => {
    const pair = generateKeyPairSync('ed25519');
    const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const authenticate = jwtAuth({ key: { publicKey: pem }, algorithms: ['EdDSA'] });
    const token = await new SignJWT(claimsOf()).setProtectedHeader({ alg: 'EdDSA' }).sign(pair.privateKey);
    expect(await authenticate(withToken(token))).toMatchObject({ userID: 'ann' });
  });

  it('is verified with a secret, given as text or bytes', async () => {
    const bytes = new TextEncoder().encode(secret);
    const token = await new SignJWT(claimsOf()).setProtectedHeader({ alg: 'HS256' }).sign(bytes);
    for (const encodedSecret of [secret, bytes]) {
      const authenticate = jwtAuth({ key: { secret: encodedSecret }, algorithms: ['HS256'] });
      expect(await authenticate(withToken(token))).toMatchObject({ userID: 'ann' });
    }
    const other = jwtAuth({ key: { secret: secret.toUpperCase() }, algorithms: ['HS256'] });
    await expect(other(withToken(token))).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('may have one of several audiences and one of several issuers', async () => {
    const authenticate = jwtAuth({ ...key, issuer: ['https://old.test', issuer], audience: [audience, 'other'] });
    expect(await authenticate(withToken(await sign(signer, { aud: ['x', audience] })))).toMatchObject({
      userID: 'ann',
    });
  });

  it.each<[string, Record<string, unknown>, string | RegExp]>([
    ['expired', { exp: 1 }, 'The token has expired'],
    ['not yet valid', { nbf: now() + 600 }, /claim "nbf"/],
    ['without exp', { exp: undefined }, /claim "exp" is missing/],
    ['for another audience', { aud: 'others' }, /claim "aud"/],
    ['from another issuer', { iss: 'https://evil.test' }, /claim "iss"/],
  ])('is rejected with a reason if it is %s', async (_, claims, detail) => {
    const authenticate = jwtAuth({ ...key, issuer, audience });
    await expect(authenticate(withToken(await sign(signer, claims)))).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(detail),
      headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    });
  });

  it('is accepted within the clock tolerance, and rejected beyond it', async () => {
    const authenticate = jwtAuth({ ...key, clockToleranceSeconds: 60 });
    const token = await sign(signer, { exp: now() - 30, nbf: now() + 30 });
    const context = await authenticate(withToken(token));
    expect(context!.expiresAt!.getTime()).toBeGreaterThan(Date.now());
    await expect(authenticate(withToken(await sign(signer, { exp: now() - 90 })))).rejects.toThrow('expired');
  });

  it.each([undefined, '', 7, null, 'a\u0000b', '\ud800'])('identifies no user if its sub is %j', async (sub) => {
    expect(await jwtAuth(key)(withToken(await sign(signer, { sub })))).toBeNull();
  });

  it('yields a 401 or no user if it is damaged or arbitrary text', async () => {
    const authenticate = jwtAuth(key);
    const validToken = await sign(signer);
    /** Strips the signature, because several texts can encode the same signature. */
    const signed = (authorization: string) => authorization.slice(0, authorization.lastIndexOf('.'));
    const damaged = fc
      .tuple(fc.nat(validToken.length - 1), fc.string({ minLength: 0, maxLength: 3 }))
      .map(([at, text]) => validToken.slice(0, at) + text + validToken.slice(at + 1));
    const header = fc.json().map((text) => `${Buffer.from(text).toString('base64url')}.e30.x`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(damaged, header, fc.string()), async (text) => {
        const authorization = `Bearer ${text.replace(/[^\x21-\x7e]/g, '')}`;
        const request = new Request('http://localhost/', { headers: { authorization } });
        const outcome = await Promise.resolve(authenticate(request)).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'Problem', status: 401 });
        else if (outcome !== null) expect(signed(authorization)).toBe(signed(`Bearer ${validToken}`));
      }),
    );
  });
});

describe('the cache of verified tokens', () => {
  const count = () => vi.spyOn(crypto.subtle, 'verify');

  it('avoids verifying the same token twice', async () => {
    const verify = count();
    const authenticate = jwtAuth(key);
    const token = await sign(signer);
    for (let i = 0; i < 5; i++) expect(await authenticate(withToken(token))).toMatchObject({ userID: 'ann' });
    expect(verify).toHaveBeenCalledTimes(1);
    await authenticate(withToken(await sign(signer, { sub: 'ben' })));
    expect(verify).toHaveBeenCalledTimes(2);
  });

  it('rejects a token after it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const authenticate = jwtAuth({ ...key, clockToleranceSeconds: 5 });
    const token = await sign(signer, { exp: now() + 60 });
    expect(await authenticate(withToken(token))).not.toBeNull();
    vi.setSystemTime(Date.now() + 64_000);
    expect(await authenticate(withToken(token))).not.toBeNull();
    vi.setSystemTime(Date.now() + 1_000);
    await expect(authenticate(withToken(token))).rejects.toThrow('The token has expired');
  });

  it('contains no long tokens and no rejected ones', async () => {
    const verify = count();
    const authenticate = jwtAuth(key);
    const long = await sign(signer, { scope: 'x'.repeat(4_000) });
    for (let i = 0; i < 2; i++) await authenticate(withToken(long));
    expect(verify).toHaveBeenCalledTimes(2);
    const wrong = await sign(createSigner());
    for (let i = 0; i < 2; i++) await expect(authenticate(withToken(wrong))).rejects.toThrow('not signed with a key');
    expect(verify).toHaveBeenCalledTimes(4);
  });
});

describe('the context', () => {
  it('is derived from the claims at each request', async () => {
    let banned = false;
    const authenticate = jwtAuth({
      ...key,
      context: async ({ sub, role }) => (banned ? null : { userID: `user:${sub}`, role }),
    });
    const exp = now() + 60;
    const token = await sign(signer, { exp, role: 'admin' });
    const expected = { userID: 'user:ann', role: 'admin', expiresAt: new Date(exp * 1000) };
    expect(await authenticate(withToken(token))).toEqual(expected);
    banned = true;
    expect(await authenticate(withToken(token))).toBeNull();
  });

  it('may set its own expiry', async () => {
    const expiresAt = new Date(Date.now() + 1_000);
    const authenticate = jwtAuth({ ...key, context: () => ({ userID: 'x', expiresAt }) });
    expect(await authenticate(withToken(await sign(signer)))).toEqual({ userID: 'x', expiresAt });
  });
});

describe('a request without a token', () => {
  const requestWith = (authorization?: string) =>
    new Request('http://localhost/', { headers: authorization === undefined ? {} : { authorization } });

  it('has no user', async () => {
    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', 'Basic YTpi', await sign(signer)]) {
      expect(await jwtAuth(key)(requestWith(authorization))).toBeNull();
    }
  });

  it('is anonymous if the options allow it and it has no authorization at all', async () => {
    const authenticate = jwtAuth({ ...key, anonymous: () => ({ userID: 'anonymous' }) });
    for (const authorization of [undefined, '']) {
      expect(await authenticate(requestWith(authorization))).toEqual({ userID: 'anonymous' });
    }
    for (const authorization of ['Bearer', 'Basic YTpi']) {
      expect(await authenticate(requestWith(authorization))).toBeNull();
    }
    await expect(authenticate(requestWith('Bearer x.y.z'))).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await authenticate(requestWith(`bearer  ${await sign(signer)}`))).toMatchObject({ userID: 'ann' });
  });
});
