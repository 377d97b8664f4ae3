import { RateLimiterMemory } from 'rate-limiter-flexible';
import { afterEach, expect, it } from 'vitest';
import { isPrivate, networkOf, type RateOptions } from '../../../packages/tidemark/src/limits/rates.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { pullBody, send } from '../conformance/wire.js';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(rates: RateOptions) {
  const started = await startServer({ rates });
  server = started;
  const pull = (user: string | null, headers: Record<string, string> = {}) =>
    send(started, '/sync/pull', pullBody({ clientGroupID: `of ${user}` }), { user, headers });
  const statuses = async (user: string | null, times: number, headers?: Record<string, string>) => {
    const found: number[] = [];
    for (let i = 0; i < times; i++) found.push((await pull(user, headers)).status);
    return found;
  };
  return { pull, statuses };
}

it('a user who sends too many requests is told when to retry, and other users are not affected', async () => {
  const { pull, statuses } = await start({ perUser: 3 });
  expect(await statuses('ann', 4)).toEqual([200, 200, 200, 429]);
  const refused = await pull('ann');
  expect(refused.body).toMatchObject({ code: 'too-many-requests' });
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
  expect(Number(refused.headers.get('Retry-After'))).toBeLessThanOrEqual(10);
  expect(await statuses('bob', 3)).toEqual([200, 200, 200]);
});

it('an address is limited regardless of the user', async () => {
  const { statuses } = await start({ perAddress: 3, address: ({ headers }) => headers.get('X-Real-IP') ?? undefined });
  expect(await statuses(null, 2, { 'X-Real-IP': '203.0.113.1' })).toEqual([401, 401]);
  expect(await statuses('ann', 2, { 'X-Real-IP': '203.0.113.1' })).toEqual([200, 429]);
  expect(await statuses('ann', 1, { 'X-Real-IP': '203.0.113.2' })).toEqual([200]);
  expect(await statuses('ann', 5)).toEqual([200, 200, 200, 200, 200]);
});

it('addresses of private networks are not limited, because they belong to proxies', async () => {
  const { statuses } = await start({ perAddress: 1 });
  expect(await statuses('ann', 3)).toEqual([200, 200, 200]);
});

it.each([
  ['10.1.2.3', true],
  ['172.31.0.1', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['127.0.0.1', true],
  ['::1', true],
  ['::ffff:10.0.0.1', true],
  ['::ffff:8.8.8.8', false],
  ['fd12::1', true],
  ['fe80::1', true],
  ['2001:db8::1', false],
  ['8.8.8.8', false],
])('isPrivate(%s) returns %s', (address, is) => {
  expect(isPrivate(address)).toBe(is);
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['2001:db8:1::2:3:4:5', '2001:db8:1:0'],
])('the address %s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it('a limiter of the application is used', async () => {
  const { statuses } = await start({ perUser: new RateLimiterMemory({ points: 2, duration: 60 }), perAddress: false });
  expect(await statuses('ann', 3)).toEqual([200, 200, 429]);
});

it('a limiter that fails limits no requests, and the log says so', async () => {
  const { statuses } = await start({ perUser: { consume: () => Promise.reject(new Error('no Redis')) } });
  expect(await statuses('ann', 1)).toEqual([200]);
  expect(server?.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', message: expect.stringContaining('counted') }),
  );
});
