import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pull, setUp } from '../../../../test/integration/endpoints/requests.js';
import { silent } from '../../../../test/support/log.js';
import { listenForPokes } from '../../../../test/support/poke-reader.js';
import { WantChecker } from '../endpoints/pulls/want-checker.js';
import { PokeStreams } from '../endpoints/subscriptions/poke-streams.js';
import { Admission } from '../limits/admission.js';
import { type Listening, listen } from '../node.js';
import { type CORSOptions, withCORS } from './cors.js';

const app = 'https://app.test';

/** Serves an app with one user to pages of other origins. */
function serve(options: CORSOptions, parts: Parameters<typeof setUp>[0] = {}) {
  const fetch = withCORS(setUp(parts).app.fetch, options);
  return (path: string, init?: RequestInit) => fetch(new Request(`http://localhost${path}`, init));
}

const post = { method: 'POST', body: JSON.stringify(pull) };
const json = { 'Content-Type': 'application/json' };
const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type',
  },
});

/** Returns the headers of a response that concern origins. */
function granted(response: Response): Record<string, string> {
  return Object.fromEntries([...response.headers].filter(([name]) => /^(access-control-|vary$)/.test(name)));
}

describe('a page of a listed origin', () => {
  const send = serve({ origins: ['https://other.test', app] });
  const exposed = { 'access-control-expose-headers': expect.stringContaining('X-Request-ID') };

  it('receives its permissions in reply to a preflight', async () => {
    const response = await send('/sync/pull', preflight(app));
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
    expect(granted(response)).toEqual({
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': expect.any(String),
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
    const allowed = response.headers.get('Access-Control-Allow-Headers')!.split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining(['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Replicache-RequestID']),
    );
  });

  it('can read responses, including refusals', async () => {
    const headers = { Origin: app, ...json };
    const expected = { 'access-control-allow-origin': app, ...exposed, vary: 'Origin' };
    const answer = await send('/sync/pull', { ...post, headers: { ...headers, Authorization: 'secret' } });
    expect([answer.status, granted(answer)]).toEqual([200, expected]);
    expect(await answer.text()).toBe('{"cookie":1}');
    for (const [path, status] of [['/sync/pull', 401], ['/nowhere', 404]] as const) {
      const refusal = await send(path, { ...post, headers });
      expect([refusal.status, granted(refusal)]).toEqual([status, expected]);
    } // biome-ignore format: short
  });

  it('may send cookies only if the options allow credentials', async () => {
    const withCookies = serve({ origins: [app], credentials: true });
    for (const init of [preflight(app), { ...post, headers: { Origin: app, ...json } }]) {
      const name = 'access-control-allow-credentials';
      expect(granted(await withCookies('/sync/pull', init))).toMatchObject({ [name]: 'true' });
      expect(granted(await send('/sync/pull', init))).not.toHaveProperty(name);
    }
  });
});

describe('a page of any other origin', () => {
  it.each(['https://evil.test', 'null', 'http://app.test', 'https://app.test.evil.test', 'https://sub.app.test'])(
    'is granted nothing: %s',
    async (origin) => {
      const send = serve({ origins: [app], credentials: true });
      const refused = await send('/sync/pull', preflight(origin));
      expect([refused.status, granted(refused)]).toEqual([405, { vary: 'Origin' }]);
      const headers = { Origin: origin, Authorization: 'secret', ...json };
      expect(granted(await send('/sync/pull', { ...post, headers }))).toEqual({ vary: 'Origin' });
    },
  );

  it('is refused, whatever its origin, if no origins are listed', async () => {
    const send = serve({ origins: [] });
    expect((await send('/sync/pull', preflight(app))).status).toBe(405);
    expect((await send('/sync/pull', preflight('*'))).status).toBe(405);
  });

  it('does not share cached responses with requests that have no Origin', async () => {
    const send = serve({ origins: [app] });
    expect(granted(await send('/healthz'))).toEqual({ vary: 'Origin' });
  });
});

it('the origin * grants every page access without cookies', async () => {
  const send = serve({ origins: ['*'] });
  for (const origin of [app, 'null']) {
    expect(granted(await send('/sync/pull', preflight(origin)))).toMatchObject({ 'access-control-allow-origin': '*' });
    expect(granted(await send('/healthz', { headers: { Origin: origin } }))).toMatchObject({
      'access-control-allow-origin': '*',
    });
  }
});

it.each<[CORSOptions, RegExp]>([
  [{ origins: ['*'], credentials: true }, /name the origins/],
  [{ origins: ['*', app] }, /alone/],
  [{ origins: [`${app}/`] }, /can never match/],
])('withCORS rejects the options %j', (options, message) => {
  expect(() => withCORS(async () => new Response(), options)).toThrow(
    expect.objectContaining({ name: 'SetupError', message: expect.stringMatching(message) }),
  );
});

it('an OPTIONS request that is not a preflight reaches the server', async () => {
  const response = await serve({ origins: [app] })('/sync/pull', { method: 'OPTIONS', headers: { Origin: app } });
  expect([response.status, response.headers.get('Access-Control-Allow-Origin')]).toEqual([405, app]);
});

describe('withCORS over HTTP', () => {
  let listening: Listening;
  let poke: () => void;

  beforeEach(async () => {
    const subscribe = async (_ctx: unknown, _request: unknown, onChange: () => void) => {
      poke = onChange;
      return () => {};
    };
    const pokes = new PokeStreams<{ userID: string }>({
      replicaRouter: { subscribe },
      admission: new Admission({}),
      wantChecker: new WantChecker({}, 0),
      authenticateMs: 60_000,
    });
    const { fetch } = setUp({ pokes, authenticate: () => ({ userID: 'ann' }) }).app;
    const service = { fetch: withCORS(fetch, { origins: [app] }), drain: () => pokes.close(), close: async () => {} };
    listening = await listen(service, { log: silent, port: 0, hostname: '127.0.0.1', signals: false });
  });
  afterEach(() => listening.close());

  it('passes on streams as streams', async () => {
    const granted: (string | null)[] = [];
    const send = async (path: string, { headers, ...init }: RequestInit) => {
      const response = await fetch(listening.url + path, { ...init, headers: { ...headers, Origin: app } });
      granted.push(response.headers.get('Access-Control-Allow-Origin'));
      return response;
    };
    const reader = await listenForPokes(send, { user: 'ann' });
    expect(granted).toEqual([app]);
    await reader.poked(1);
    poke();
    await reader.poked(2);
    reader.close();
  });

  it('leaves the body of a response unchanged, and answers preflights', async () => {
    const response = await fetch(`${listening.url}/sync/pull`, { ...post, headers: { Origin: app, ...json } });
    expect([response.status, await response.text()]).toEqual([200, '{"cookie":1}']);
    expect(granted(response)).toMatchObject({ 'access-control-allow-origin': app });
    expect((await fetch(`${listening.url}/sync/pull`, preflight(app))).status).toBe(204);
  });
});
