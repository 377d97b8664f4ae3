import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  createSigner,
  type KeyServer,
  type Signer,
  serveKeys,
  sign,
  withToken,
} from '../../../../test/integration/auth/tokens.js';
import { jwtAuth } from './jwt.js';

let keys: KeyServer;
let signer: Signer;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  signer = createSigner();
  keys = await serveKeys(signer);
});
afterEach(async () => {
  vi.useRealTimers();
  await keys.close();
});

const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
const hour = 3600;

/** Creates a function that authenticates a token, and returns its user ID or the code of the problem. */
function createAsk() {
  const authenticate = jwtAuth({ key: { jwksURL: keys.url }, algorithms: ['ES256'] });
  return async (token: string) =>
    Promise.resolve(authenticate(withToken(token))).then(
      (context) => context?.userID,
      (error: { code: string }) => error.code,
    );
}

it('fetches the keys once, for the first tokens', async () => {
  const ask = createAsk();
  expect(keys.asked).toEqual([]);
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => sign(signer, { sub: `user-${i}` })));
  expect(await Promise.all(tokens.map(ask))).toEqual(tokens.map((_, i) => `user-${i}`));
  expect(await ask(await sign(signer))).toBe('ann');
  expect(keys.asked).toHaveLength(1);
});

it('fetches the keys again, once, for tokens with a new key', async () => {
  const ask = createAsk();
  await ask(await sign(signer));
  const next = createSigner();
  keys.signers = [signer, next];
  pass(31);
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => sign(next, { sub: `user-${i}` })));
  expect(await Promise.all(tokens.map(ask))).toEqual(tokens.map((_, i) => `user-${i}`));
  expect(await ask(await sign(signer))).toBe('ann');
  expect(keys.asked).toHaveLength(2);
});

it('rejects tokens of a withdrawn key after at most eleven minutes', async () => {
  const ask = createAsk();
  const token = await sign(signer);
  expect(await ask(token)).toBe('ann');
  keys.signers = [];
  pass(599);
  expect(await ask(token)).toBe('ann');
  pass(60);
  expect(await Promise.all([ask(token), ask(token)])).toEqual(['unauthenticated', 'unauthenticated']);
  expect(keys.asked).toHaveLength(2);
});

it('keeps using cached keys while the key server fails', async () => {
  const ask = createAsk();
  await ask(await sign(signer));
  keys.onRequest = (_, response) => response.writeHead(500).end();
  for (let passed = 0; passed < 24 * hour; passed += hour) {
    pass(hour);
    expect(await ask(await sign(signer))).toBe('ann');
  }
  expect(keys.asked.length).toBeGreaterThan(1);
  expect(keys.asked.length).toBeLessThan(30);
});

it('does not wait for a key server that hangs if the keys are cached', async () => {
  const ask = createAsk();
  await ask(await sign(signer));
  let isClosed = false;
  keys.onRequest = (request) => request.socket.once('close', () => (isClosed = true));
  pass(601);
  const tokens = [await sign(signer), await sign(signer, { sub: 'ben' })];
  expect(await Promise.all(tokens.map(ask))).toEqual(['ann', 'ben']);
  expect(isClosed).toBe(false);
  expect(keys.asked).toHaveLength(2);
});

it('refreshes the keys when the key server works again', async () => {
  const ask = createAsk();
  await ask(await sign(signer));
  keys.onRequest = (_, response) => response.writeHead(500).end();
  pass(601);
  expect(await ask(await sign(signer))).toBe('ann');
  keys.onRequest = undefined;
  keys.signers = [];
  expect(await ask(await sign(signer, { sub: 'ben' }))).toBe('ben');
  pass(31);
  expect(await ask(await sign(signer))).toBe('unauthenticated');
});

it.each<[string, (keys: KeyServer) => KeyServer['onRequest']]>([
  ['fails', () => (_, response) => response.writeHead(500).end()],
  ['closes the connection', () => (request) => request.socket.destroy()],
  ['returns HTML', () => (_, response) => response.end('<html>')],
  ['returns other JSON', () => (_, response) => response.end('{"keys": 7}')],
  [
    'redirects',
    ({ url }) =>
      (_, response) =>
        response.writeHead(302, { Location: `${url}?moved` }).end(),
  ],
])('responds 503 instead of rejecting a token while the key server %s', async (_, onRequest) => {
  keys.onRequest = onRequest(keys);
  const authenticate = jwtAuth({ key: { jwksURL: keys.url }, algorithms: ['ES256'] });
  const token = await sign(signer);
  for (let i = 0; i < 100; i++) {
    await expect(authenticate(withToken(token))).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
      headers: { 'Retry-After': '5' },
    });
  }
  // The server's redirects are not followed.
  expect(keys.asked).toEqual(['/jwks.json']);
  keys.onRequest = undefined;
  pass(5);
  expect(await authenticate(withToken(token))).toMatchObject({ userID: 'ann' });
  expect(keys.asked).toHaveLength(2);
});

it('fetches the keys only a few times for many tokens with unknown keys', async () => {
  const ask = createAsk();
  await ask(await sign(signer));
  const flood = Array.from({ length: 1_000 }, () => sign({ ...signer, kid: randomUUID() }));
  const tokens = await Promise.all(flood);
  expect(new Set(await Promise.all(tokens.map(ask)))).toEqual(new Set(['unauthenticated']));
  expect(keys.asked).toHaveLength(1);
  for (const token of tokens.slice(0, 300)) {
    pass(1);
    expect(await ask(token)).toBe('unauthenticated');
  }
  expect(keys.asked.length).toBeGreaterThan(5);
  expect(keys.asked.length).toBeLessThan(15);
  expect(await ask(await sign(signer))).toBe('ann');
});

it('fetches the keys once for many tokens with unknown keys while the key server fails', async () => {
  const ask = createAsk();
  await ask(await sign(signer));
  keys.onRequest = (_, response) => response.writeHead(500).end();
  pass(60);
  for (let i = 0; i < 1_000; i++) {
    expect(await ask(await sign({ ...signer, kid: randomUUID() }))).toBe('unavailable');
    expect(await ask(await sign(signer))).toBe('ann');
  }
  expect(keys.asked).toHaveLength(2);
});
