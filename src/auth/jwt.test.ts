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
} from '../../test/integration/auth/tokens.js';
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
  it('names the user by its sub, until its exp', async () => {
    const exp = now() + 60;
    expect(await jwtAuth(key)(withToken(await sign(signer, { exp })))).toEqual({
      userID: 'ann',
      expiresAt: new Date(exp * 1000),
    });
  });

  it('may never expire, as far as dates go', async () => {
    const context = await jwtAuth(key)(withToken(await sign(signer, { exp: 1e300 })));
    expect(context!.expiresAt!.getTime()).toBe(8.64e15);
  });

  it.each([
    ['RS256', createSigner('RS256')],
    ['ES256', signer],
  ] as const)('is verified by %s', async (algorithm, own) => {
    const authenticate = jwtAuth({ key: { publicKey: pemOf(own) }, algorithms: [algorithm] });
    expect(await authenticate(withToken(await sign(own)))).toMatchObject({ userID: 'ann' });
    const strangers = await sign(createSigner(algorithm));
    await expect(authenticate(withToken(strangers))).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('is verified by EdDSA', async () => {
    const pair = generateKeyPairSync('ed25519');
    const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const authenticate = jwtAuth({ key: { publicKey: pem }, algorithms: ['EdDSA'] });
    const token = await new SignJWT(claimsOf()).setProtectedHeader({ alg: 'EdDSA' }).sign(pair.privateKey);
    expect(await authenticate(withToken(token))).toMatchObject({ userID: 'ann' });
  });

  it('is verified by a secret, of text or bytes', async () => {
    const bytes = new TextEncoder().encode(secret);
    const token = await new SignJWT(claimsOf()).setProtectedHeader({ alg: 'HS256' }).sign(bytes);
    for (const given of [secret, bytes]) {
      const authenticate = jwtAuth({ key: { secret: given }, algorithms: ['HS256'] });
      expect(await authenticate(withToken(token))).toMatchObject({ userID: 'ann' });
    }
    const other = jwtAuth({ key: { secret: secret.toUpperCase() }, algorithms: ['HS256'] });
    await expect(other(withToken(token))).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('may be for one of several audiences, from one of several issuers', async () => {
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
  ])('is refused when it is %s, and the caller is told why', async (_, claims, detail) => {
    const authenticate = jwtAuth({ ...key, issuer, audience });
    await expect(authenticate(withToken(await sign(signer, claims)))).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(detail),
      headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    });
  });

  it('may be late, or early, by the tolerance', async () => {
    const authenticate = jwtAuth({ ...key, clockToleranceSeconds: 60 });
    const token = await sign(signer, { exp: now() - 30, nbf: now() + 30 });
    const context = await authenticate(withToken(token));
    expect(context!.expiresAt!.getTime()).toBeGreaterThan(Date.now());
    await expect(authenticate(withToken(await sign(signer, { exp: now() - 90 })))).rejects.toThrow('expired');
  });

  it.each([undefined, '', 7, null, 'a\u0000b', '\ud800'])('needs a user: not %j', async (sub) => {
    expect(await jwtAuth(key)(withToken(await sign(signer, { sub })))).toBeNull();
  });

  it('is wrong, and nothing worse, whatever is sent', async () => {
    const authenticate = jwtAuth(key);
    const sound = await sign(signer);
    /** Some texts of a signature mean the same bytes. */
    const signed = (authorization: string) => authorization.slice(0, authorization.lastIndexOf('.'));
    const damaged = fc
      .tuple(fc.nat(sound.length - 1), fc.string({ minLength: 0, maxLength: 3 }))
      .map(([at, text]) => sound.slice(0, at) + text + sound.slice(at + 1));
    const header = fc.json().map((text) => `${Buffer.from(text).toString('base64url')}.e30.x`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(damaged, header, fc.string()), async (text) => {
        const authorization = `Bearer ${text.replace(/[^\x21-\x7e]/g, '')}`;
        const request = new Request('http://localhost/', { headers: { authorization } });
        const outcome = await Promise.resolve(authenticate(request)).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'Problem', status: 401 });
        else if (outcome !== null) expect(signed(authorization)).toBe(signed(`Bearer ${sound}`));
      }),
    );
  });
});

describe('a verified token is remembered', () => {
  const count = () => vi.spyOn(crypto.subtle, 'verify');

  it('and not verified again', async () => {
    const verify = count();
    const authenticate = jwtAuth(key);
    const token = await sign(signer);
    for (let i = 0; i < 5; i++) expect(await authenticate(withToken(token))).toMatchObject({ userID: 'ann' });
    expect(verify).toHaveBeenCalledTimes(1);
    await authenticate(withToken(await sign(signer, { sub: 'ben' })));
    expect(verify).toHaveBeenCalledTimes(2);
  });

  it('until it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const authenticate = jwtAuth({ ...key, clockToleranceSeconds: 5 });
    const token = await sign(signer, { exp: now() + 60 });
    expect(await authenticate(withToken(token))).not.toBeNull();
    vi.setSystemTime(Date.now() + 64_000);
    expect(await authenticate(withToken(token))).not.toBeNull();
    vi.setSystemTime(Date.now() + 1_000);
    await expect(authenticate(withToken(token))).rejects.toThrow('The token has expired');
  });

  it('unless it is long, or refused', async () => {
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
  it('is made of the claims, each time', async () => {
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

  it('may say itself when it expires', async () => {
    const expiresAt = new Date(Date.now() + 1_000);
    const authenticate = jwtAuth({ ...key, context: () => ({ userID: 'x', expiresAt }) });
    expect(await authenticate(withToken(await sign(signer)))).toEqual({ userID: 'x', expiresAt });
  });
});

describe('a request without a token', () => {
  const requestWith = (authorization?: string) =>
    new Request('http://localhost/', { headers: authorization === undefined ? {} : { authorization } });

  it('is nobody', async () => {
    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', 'Basic YTpi', await sign(signer)]) {
      expect(await jwtAuth(key)(requestWith(authorization))).toBeNull();
    }
  });

  it('is anonymous if that is wanted, but only if it has no authorization at all', async () => {
    const authenticate = jwtAuth({ ...key, anonymous: () => ({ userID: 'anonymous' }) });
    for (const authorization of [undefined, '']) {
      expect(await authenticate(requestWith(authorization))).toEqual({ userID: 'anonymous' });
    }
    for (const authorization of ['Bearer', 'Basic YTpi'])
      expect(await authenticate(requestWith(authorization))).toBeNull();
    await expect(authenticate(requestWith('Bearer x.y.z'))).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await authenticate(requestWith(`bearer  ${await sign(signer)}`))).toMatchObject({ userID: 'ann' });
  });
});
