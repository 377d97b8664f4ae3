import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSigner, pemOf } from '../../../../test/integration/auth/tokens.js';
import type { UserContext } from '../context.js';
import { type JWTAuthOptions, jwtAuth } from './jwt.js';

const signer = createSigner();
const publicKey = pemOf(signer);
const secret = 'a secret of no less than thirty-two bytes';
const key = { key: { publicKey }, algorithms: ['ES256'] } as const;

describe('jwtAuth', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
  it.each<[what: string, options: object, message: RegExp]>([
    ['without algorithms', { ...key, algorithms: [] }, /`algorithms` must name/],
    ['with the algorithm none', { ...key, algorithms: ['none'] }, /by none with a public key: use RS256/],
    ['with none for a secret', { key: { secret }, algorithms: ['none'] }, /by none with a secret: use HS256/],
    ['with HS256 for a public key', { ...key, algorithms: ['ES256', 'HS256'] }, /by HS256 with a public key/],
    ['with HS256 for a key set', { key: { jwksURL: 'https://a.test' }, algorithms: ['HS256'] }, /by HS256 with/],
    ['with ES256 for a secret', { key: { secret }, algorithms: ['HS256', 'ES256'] }, /by ES256 with a secret/],
    ['with a public key as the secret', { key: { secret: publicKey }, algorithms: ['HS256'] }, /give it as `publicKey`/],
    ['with a short secret', { key: { secret: 'x'.repeat(31) }, algorithms: ['HS256'] }, /has 31 bytes.* at least 32/],
    ['with a secret that is too short for one of the algorithms', { key: { secret }, algorithms: ['HS256', 'HS512'] }, /at least 64/],
    ['without the secret', { key: { secret: undefined }, algorithms: ['HS256'] }, /has 0 bytes/],
    ['with a key of another type', { ...key, algorithms: ['RS256'] }, /RS256 needs .* type rsa; this one is prime256v1/],
    ['with a key of another curve', { ...key, algorithms: ['ES256', 'ES384'] }, /ES384 needs .* secp384r1/],
    ['with a short key', { key: { publicKey: rsa.publicKey.export({ type: 'spki', format: 'pem' }) }, algorithms: ['RS256'] }, /1024 bits/],
    ['with a private key', { key: { publicKey: signer.privateKey.export({ type: 'pkcs8', format: 'pem' }) }, algorithms: ['ES256'] }, /private/],
    ['with text that is not a key', { key: { publicKey: 'hunter2' }, algorithms: ['ES256'] }, /not a key or a certificate in PEM\.$/],
    ['without the public key', { key: { publicKey: undefined }, algorithms: ['ES256'] }, /in PEM/],
    ['with keys over http from another host', { key: { jwksURL: 'http://127.0.0.1.a.test/' }, algorithms: ['ES256'] }, /must be an https address/],
    ['with keys in a file', { key: { jwksURL: 'file:///keys' }, algorithms: ['ES256'] }, /must be an https address/],
    ['with an invalid URL', { key: { jwksURL: 'keys' }, algorithms: ['ES256'] }, /not a URL/],
    ['with a tolerance of NaN', { ...key, clockToleranceSeconds: Number.NaN }, /clockToleranceSeconds/],
    ['with a negative tolerance', { ...key, clockToleranceSeconds: -1 }, /clockToleranceSeconds/],
  ])('rejects the setup %s', (_, options, message) => {
    const setUp = () => jwtAuth(options as JWTAuthOptions<UserContext>);
    expect(setUp).toThrow(expect.objectContaining({ name: 'SetupError', message: expect.stringMatching(message) }));
  }); // biome-ignore format: a row each

  it('accepts keys over http from this machine, and over https', () => {
    for (const host of ['localhost', '127.0.0.1:1234', '[::1]']) {
      jwtAuth({ key: { jwksURL: `http://${host}/` }, algorithms: ['ES256'] });
    }
    jwtAuth({ key: { jwksURL: new URL('https://a.test/keys') }, algorithms: ['ES256'] });
  });
});
