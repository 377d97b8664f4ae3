import { describe, expect, it, vi } from 'vitest';
import { pull, setUp } from '../../../../test/integration/endpoints/requests.js';
import { silent } from '../../../../test/support/log.js';
import { listen } from '../node.js';
import { sessionAuth } from './session.js';

const requestWith = (headers: Record<string, string>, method = 'POST') =>
  new Request('https://notes.test/', { method, headers });

const cookie = 'sid=ann-1';
const findSession = (token: string) => (token === 'ann-1' ? { userID: 'ann' } : null);
const authenticate = sessionAuth({ cookie: 'sid', session: findSession });

describe('a session', () => {
  it.each([
    'sid=ann-1',
    'other=1; sid=ann-1',
    'sidx=ben-1;sid=ann-1;  x=y',
    'sid=ann%2D1',
    'sid="ann-1"',
    'sid=ann-1; sid=ben-1',
  ])('is found by its cookie: %s', async (text) => {
    expect(await authenticate(requestWith({ Cookie: text }))).toEqual({ userID: 'ann' });
  });

  it.each(['', 'sid=', 'sid', 'sid=ben-1', 'SID=ann-1', 'xsid=ann-1', 'ann-1', 'sid==ann-1'])(
    'is not found by the cookie header %j',
    async (text) => {
      expect(await authenticate(requestWith({ Cookie: text }))).toBeNull();
    },
  );

  it('is looked up at each request, and passes on errors of the lookup', async () => {
    const session = vi.fn(async () => ({ userID: 'ann', role: 'admin' }));
    const hostSession = sessionAuth({ cookie: '__Host-sid', session });
    const request = requestWith({ Cookie: '__Host-sid=x' });
    expect(await hostSession(request)).toEqual({ userID: 'ann', role: 'admin' });
    session.mockRejectedValueOnce(new Error('away'));
    await expect(hostSession(request)).rejects.toThrow('away');
    expect(session.mock.calls).toEqual([['x'], ['x']]);
  });
});

describe('sessionAuth', () => {
  const origins = ['https://app.test', 'capacitor://localhost'];
  const withOrigins = sessionAuth({ cookie: 'sid', session: findSession, origins });

  it.each<Record<string, string>>([
    {},
    { 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: 'https://notes.test' },
    { Origin: 'https://app.test' },
    { Origin: 'https://app.test', 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'capacitor://localhost', 'Sec-Fetch-Site': 'cross-site' },
  ])('accepts a write without an origin, from its own site or from a listed origin: %j', async (headers) => {
    expect(await withOrigins(requestWith({ Cookie: cookie, ...headers }))).toEqual({ userID: 'ann' });
  });

  it.each<Record<string, string>>([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.test' },
    { Origin: 'null' },
    { Origin: 'http://app.test' },
    { Origin: 'https://app.test.evil.test', 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'https://evil.test', 'Content-Type': 'application/json' },
  ])('refuses a write from any other origin, with or without a session: %j', async (headers) => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      for (const more of [{ Cookie: cookie }, { Cookie: 'sid=x' }, {}]) {
        expect(() => withOrigins(requestWith({ ...headers, ...more }, method))).toThrow(
          expect.objectContaining({ code: 'forbidden', status: 403, message: expect.stringContaining('origin') }),
        );
      }
    }
    for (const method of ['GET', 'HEAD']) {
      expect(await withOrigins(requestWith({ Cookie: cookie, ...headers }, method))).toEqual({ userID: 'ann' });
    }
  });

  it('accepts a write from its own site on Node, also over https', async () => {
    const { fetch: handle } = setUp({ authenticate }).app;
    const service = { fetch: handle, close: async () => {} };
    const { url, close } = await listen(service, { log: silent, port: 0, hostname: '127.0.0.1', signals: false });
    const statusFrom = async (origin: string) => {
      const headers = { Cookie: cookie, Origin: origin, 'Content-Type': 'application/json', Connection: 'close' };
      return (await fetch(`${url}/sync/pull`, { method: 'POST', headers, body: JSON.stringify(pull) })).status;
    };
    try {
      expect(await statusFrom(url)).toBe(200);
      expect(await statusFrom(url.replace('http', 'https'))).toBe(200);
      expect(await statusFrom('http://127.0.0.1')).toBe(403);
    } finally {
      await close();
    }
  });

  it('rejects options with an origin that can never match', () => {
    for (const origin of [
      'https://app.test/',
      'https://APP.test',
      'https://app.test:443',
      'app.test',
      '*',
      'null',
      '',
    ]) {
      expect(() => sessionAuth({ cookie: 'sid', session: findSession, origins: [origin] })).toThrow(
        expect.objectContaining({ name: 'SetupError', message: expect.stringContaining(JSON.stringify(origin)) }),
      );
    }
  });
});

it('a request without a session is anonymous if the options allow it and it has no credentials at all', async () => {
  const open = sessionAuth({ cookie: 'sid', session: findSession, anonymous: () => ({ userID: 'anonymous' }) });
  for (const headers of [{}, { Cookie: 'other=1' }, { Cookie: 'sid=' }, { Authorization: '' }]) {
    expect(await open(requestWith(headers as Record<string, string>))).toEqual({ userID: 'anonymous' });
  }
  expect(await open(requestWith({ Cookie: cookie }))).toEqual({ userID: 'ann' });
  for (const headers of [{ Cookie: 'sid=ben-1' }, { Authorization: 'Bearer x' }]) {
    expect(await open(requestWith(headers as Record<string, string>))).toBeNull();
  }
  expect(() => open(requestWith({ Origin: 'https://evil.test' }))).toThrow('origin');
});
