import { createHmac, randomUUID, sign as signBytes } from 'node:crypto';
import { UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jwtAuth } from '../../../packages/tidemark/src/auth/jwt.js';
import { sessionAuth } from '../../../packages/tidemark/src/auth/session.js';
import type { Authenticate } from '../../../packages/tidemark/src/http/identify.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { createSynced } from '../../support/synced.js';
import { audience, claimsOf, createSigner, issuer, type KeyServer, now, pemOf, serveKeys, sign } from './tokens.js';

type Headers = Record<string, string>;

const note = defineView({
  query: ({ ctx }) => sql<{ id: string; body: string }>`select id, body from note where owner_id = ${ctx.userID}`,
  key: 'id',
});
const create = defineMutator(z.object({ id: z.string(), body: z.string() }), async ({ tx, args, ctx }) => {
  await tx.query('insert into note (id, owner_id, body) values ($1, $2, $3)', [args.id, ctx.userID, args.body]);
});
const mutators = defineMutators({ note: { create } });

const signer = createSigner('RS256');
const sessions: Readonly<Record<string, string>> = { 'ann-1': 'ann', 'ben-1': 'ben' };
const ways: Readonly<Record<string, () => Authenticate<{ userID: string }>>> = {
  'a public key': () => jwtAuth({ key: { publicKey: pemOf(signer) }, algorithms: ['RS256'], issuer, audience }),
  'a key set': () => jwtAuth({ key: { jwksURL: keys.url }, algorithms: ['RS256'], issuer, audience }),
  sessions: () =>
    sessionAuth({
      cookie: 'sid',
      session: async (token) => (sessions[token] ? { userID: sessions[token] } : null),
      origins: ['https://app.test'],
    }),
};

let database: TestDatabase;
let keys: KeyServer;
const syncs = new Map<string, Sync>();

beforeAll(async () => {
  keys = await serveKeys(signer, createSigner('RS256'));
  database = await createSynced('create table note (id text primary key, owner_id text not null, body text not null)', {
    note,
  });
  for (const [way, authenticate] of Object.entries(ways)) {
    const options = { database: database.url, views: { note }, mutators, log: silent };
    syncs.set(
      way,
      await createSync({ ...options, authenticate: authenticate(), rest: { discovery: 'authenticated' } }),
    );
  }
});
afterAll(async () => {
  for (const sync of syncs.values()) await sync.close();
  await database.drop();
  await keys.close();
});

const pushOf = (clientGroupID: string, body: string) => ({
  pushVersion: 1,
  clientGroupID,
  profileID: 'p',
  schemaVersion: '',
  mutations: [{ id: 1, clientID: randomUUID(), name: 'note.create', args: { id: randomUUID(), body }, timestamp: 0 }],
});
const pullOf = (clientGroupID: string) => ({
  pullVersion: 1,
  clientGroupID,
  profileID: 'p',
  schemaVersion: '',
  cookie: null,
});
const callOf = () => ({ id: randomUUID(), body: '' });

/** The body of a POST to each route; undefined for a GET. */
const routes: Readonly<Record<string, (() => object) | undefined>> = {
  '/sync/pull': () => pullOf(randomUUID()),
  '/sync/push': () => pushOf(randomUUID(), ''),
  '/sync/poke?clientGroupID=g&profileID=p': undefined,
  '/api/mutators/note/create': callOf,
  '/api/mutators': () => [{ name: 'note.create', args: callOf() }],
  '/api/openapi.json': undefined,
  '/api/docs': undefined,
  '/api/docs/docs-page.js': undefined,
};
const writing = Object.keys(routes).filter((path) => routes[path]);

function send(way: string, path: string, headers: Headers, body: object | undefined): Promise<Response> {
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  return syncs.get(way)!.fetch(
    new Request(`http://notes.test${path}`, {
      ...init,
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
    }),
  );
}

/** Returns the status of each route for a request with these headers. */
async function statuses(way: string, headers: Headers): Promise<Record<string, number>> {
  const entries = Object.entries(routes).map(async ([path, body]) => {
    const response = await send(way, path, headers, body?.());
    await response.body?.cancel();
    return [path, response.status] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** `status` for every route, or `written` for the routes that write. */
const everywhere = (status: number, written = status) =>
  Object.fromEntries(Object.keys(routes).map((path) => [path, writing.includes(path) ? written : status]));

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token signed with the public key, as if that key were a secret. */
function confused(): string {
  const text = `${encode({ alg: 'HS256', typ: 'JWT', kid: signer.kid })}.${encode(claimsOf())}`;
  return `${text}.${createHmac('sha256', pemOf(signer)).update(text).digest('base64url')}`;
}
/** A token that names its own verification key. */
async function selfSigned(): Promise<string> {
  const own = createSigner('RS256', signer.kid);
  const [, claims] = (await sign(own)).split('.');
  const jwk = own.publicKey.export({ format: 'jwk' });
  const text = `${encode({ alg: 'RS256', kid: signer.kid, jwk, jku: 'http://127.0.0.1/keys' })}.${claims}`;
  return `${text}.${signBytes('sha256', Buffer.from(text), own.privateKey).toString('base64url')}`;
}

describe.each(['a public key', 'a key set'])('jwtAuth with %s', (way) => {
  it.each<[what: string, token: () => string | Promise<string>, status: number]>([
    ['accepts a good token', () => sign(signer), 200],
    ['rejects a malformed token', () => 'abc.def.ghi', 401],
    ['rejects text that is not a JWT', () => 'ann', 401],
    ['rejects a token that is cut off', async () => (await sign(signer)).slice(0, -20), 401],
    ['rejects a token without its signature', async () => (await sign(signer)).replace(/[^.]*$/, ''), 401],
    ['rejects a token with a wrong signature', () => sign(createSigner('RS256', signer.kid)), 401],
    ['rejects a token signed by an unknown key', () => sign(createSigner('RS256')), 401],
    ['rejects a token signed by a key that it contains', selfSigned, 401],
    ['rejects an unsigned token', () => new UnsecuredJWT(claimsOf()).encode(), 401],
    ['rejects a token signed with the public key as a secret', confused, 401],
    ['rejects a token signed with another algorithm', () => sign(createSigner('ES256', signer.kid)), 401],
    ['rejects an expired token', () => sign(signer, { exp: now() - 1 }), 401],
    ['rejects a token that is not yet valid', () => sign(signer, { nbf: now() + 3600 }), 401],
    ['rejects a token for another audience', () => sign(signer, { aud: 'others' }), 401],
    ['rejects a token without an audience', () => sign(signer, { aud: undefined }), 401],
    ['rejects a token from another issuer', () => sign(signer, { iss: 'https://evil.test' }), 401],
    ['rejects a token without exp', () => sign(signer, { exp: undefined }), 401],
    ['rejects a token without sub', () => sign(signer, { sub: undefined }), 401],
  ])('%s', async (_, token, status) => {
    expect(await statuses(way, { Authorization: `Bearer ${await token()}` })).toEqual(everywhere(status));
  });

  it('rejects a request without a token', async () => {
    expect(await statuses(way, {})).toEqual(everywhere(401));
    expect(await statuses(way, { Authorization: '' })).toEqual(everywhere(401));
    expect(await statuses(way, { Authorization: 'Basic YW5uOmFubg==' })).toEqual(everywhere(401));
  });
});

it.each<[what: string, headers: Headers, status: number, written?: number]>([
  ['rejects a request without a cookie', {}, 401],
  ['rejects an unknown session', { Cookie: 'sid=eve-1' }, 401],
  ['rejects a token in place of a cookie', { Authorization: 'Bearer ann-1' }, 401],
  ['accepts a known session', { Cookie: 'sid=ann-1' }, 200],
  [
    'accepts a known session from a page of the same origin',
    { Cookie: 'sid=ann-1', 'Sec-Fetch-Site': 'same-origin' },
    200,
  ],
  ['accepts a known session from its own origin', { Cookie: 'sid=ann-1', Origin: 'https://notes.test' }, 200],
  ['accepts a known session from a listed origin', { Cookie: 'sid=ann-1', Origin: 'https://app.test' }, 200],
  ['refuses only writes from another origin', { Cookie: 'sid=ann-1', Origin: 'https://evil.test' }, 200, 403],
  ['refuses only writes from another site', { Cookie: 'sid=ann-1', 'Sec-Fetch-Site': 'cross-site' }, 200, 403],
])('sessionAuth %s', async (_, headers, status, written) => {
  expect(await statuses('sessions', headers)).toEqual(everywhere(status, written));
});

it.each(Object.keys(ways))('health checks need no authentication, with %s', async (way) => {
  for (const path of ['/healthz', '/readyz']) expect((await send(way, path, {}, undefined)).status).toBe(200);
});

it.each(Object.keys(ways))('two users see nothing of each other, with %s', async (way) => {
  const headersOf = async (user: string): Promise<Headers> =>
    way === 'sessions' ? { Cookie: `sid=${user}-1` } : { Authorization: `Bearer ${await sign(signer, { sub: user })}` };
  const groups = { ann: randomUUID(), ben: randomUUID() };
  for (const [user, group] of Object.entries(groups)) {
    const pushed = await send(way, '/sync/push', await headersOf(user), pushOf(group, `canary-${user}`));
    expect([pushed.status, await pushed.text()]).toEqual([200, '{}']);
  }
  // Runs twice: the second time, the server has cached the tokens.
  for (const _ of [1, 2]) {
    for (const [user, other] of [['ann', 'ben'], ['ben', 'ann']] as const) {
      const headers = await headersOf(user);
      const pulled = await (await send(way, '/sync/pull', headers, pullOf(groups[user]))).text();
      expect(pulled).toContain(`canary-${user}`);
      expect(pulled).not.toContain(`canary-${other}`);
      expect((await send(way, '/sync/pull', headers, pullOf(groups[other]))).status).toBe(403);
      expect((await send(way, '/sync/push', headers, pushOf(groups[other], ''))).status).toBe(403);
    }
  } // biome-ignore format: short
});
