/** Endpoints at other paths, and for callers whom the host has identified, on a real server. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { UserContext } from '../../../packages/tidemark/src/context.js';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { createSync, type Sync } from '../../../packages/tidemark/src/server.js';
import { sql } from '../../../packages/tidemark/src/sql.js';
import type { SyncOptions } from '../../../packages/tidemark/src/sync-options.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type LogLine, memoryLog } from '../../support/log.js';
import { createSynced } from '../../support/synced.js';
import { readText } from './poke-subscribers.js';
import { expectProblem, pull, push } from './requests.js';

const views = {
  item: defineView({
    query: ({ ctx }) => sql<{ id: string }>`select id from item where owner = ${ctx.userID}`,
    key: 'id',
  }),
};
const mutators = defineMutators({
  add: defineMutator(({ tx, args, ctx }) => tx.query('insert into item values ($1, $2)', [args, ctx.userID])),
});

let database: TestDatabase;
let sync: Sync | undefined;
let lines: LogLine[];

beforeAll(async () => {
  database = await createSynced('create table item (id text primary key, owner text not null)', views);
  await database.pool.query("insert into item values ('1', 'ann'), ('2', 'ben')");
});
afterEach(async () => {
  await sync?.close();
  sync = undefined;
});
afterAll(() => database.drop());

type Options = Partial<
  Pick<SyncOptions<UserContext, never>, 'authenticate' | 'basePath' | 'paths' | 'limits' | 'metrics' | 'rates'>
>;

async function start(options: Options = {}): Promise<Sync> {
  const memory = memoryLog();
  lines = memory.lines;
  sync = await createSync({
    database: database.url,
    views,
    mutators,
    authenticate: () => null,
    log: memory.log,
    pokes: { intervalMs: 20 },
    ...options,
  });
  return sync;
}

const request = (path: string, body?: object, headers: Record<string, string> = {}) =>
  new Request(`http://localhost${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'Content-Type': 'application/json', ...headers },
  });

const adding = (id: string) => {
  const [mutation] = push.mutations;
  return { ...push, clientGroupID: id, mutations: [{ ...mutation, clientID: randomUUID(), name: 'add', args: id }] };
};

const keysOf = async (response: Response) => {
  expect(response.status).toBe(200);
  const { patch } = (await response.json()) as { patch: { key?: string }[] };
  return patch.flatMap(({ key }) => key ?? []).sort();
};

it('serves pulls, pushes and pokes only at the configured paths, which may have parameters', async () => {
  const { fetch } = await start({
    basePath: '/v1',
    paths: { pull: '/of/:user/pull', push: '/of/:user/push' },
    authenticate: ({ url }) => ({ userID: new URL(url).pathname.split('/')[3]! }),
    metrics: 'public',
  });
  expect(await keysOf(await fetch(request('/v1/of/ben/pull', pull)))).toEqual(['item/2']);
  expect(await (await fetch(request('/v1/of/cam/push', adding('3')))).json()).toEqual({});
  expect(await keysOf(await fetch(request('/v1/of/cam/pull', { ...pull, clientGroupID: '3' })))).toEqual(['item/3']);
  await expectProblem(await fetch(request('/v1/of/ben/pull')), 405, 'method-not-allowed');
  for (const path of ['/v1/sync/pull', '/v1/sync/push', '/of/ben/pull']) {
    await expectProblem(await fetch(request(path, pull)), 404, 'not-found');
  }
  const stream = await fetch(request('/v1/sync/poke?clientGroupID=g&profileID=p'));
  expect(stream.status).toBe(200);
  await stream.body!.cancel();
  // Dashboards and alerts identify an endpoint by its default path.
  const metrics = await (await fetch(request('/v1/metrics'))).text();
  expect(metrics).toContain('route="/v1/sync/pull"');
  expect(metrics).not.toContain('/of/');
});

it.each([
  [{ pull: 'pull' }, 'The option `paths` has "pull". Begin each path with a slash.'],
  [{ pull: '/sync', push: '/sync' }, 'The option `paths` has the same path twice.'],
  [{ poke: '/sync/pull' }, 'The option `paths` has the same path twice.'],
])('refuses invalid or equal paths (case %#)', async (paths, message) => {
  await expect(start({ paths })).rejects.toThrow(new SetupError(message));
});

it('answers callers whom the host has identified, at any path', async () => {
  const { pull: pulling, push: pushing, poke: poking } = await start();
  const dan = { userID: 'dan' };
  expect(await (await pushing(request('/spaces/7/push', adding('4')), dan)).json()).toEqual({});
  const pulled = await pulling(
    request('/x?space=7', { ...pull, clientGroupID: '4' }, { 'X-Sync-RequestID': 'r' }),
    dan,
  );
  expect(pulled.headers.get('X-Request-ID')).toBe('r');
  expect(await keysOf(pulled)).toEqual(['item/4']);
  const stream = readText(await poking(request('/y?clientGroupID=4&profileID=p'), dan));
  expect(await stream.next()).toMatch(/^retry: \d+\n\ndata: poke\n\n$/);
  await database.pool.query("insert into item values ('5', 'dan')");
  expect(await stream.next()).toBe('data: poke\n\n');
  await stream.cancel();
  expect(lines.filter(({ message }) => message === 'Request').map(({ fields }) => fields)).toMatchObject([
    { path: '/spaces/7/push', status: 200, mutations: 1 },
    { path: '/x', status: 200, requestID: 'r', pull: 'first' },
    { path: '/y', status: 200, outcome: 'cancelled' },
  ]);
});

it('refuses callers whom the host has identified with the same errors as others', async () => {
  const server = await start({ limits: { pull: 10 } });
  const eve = { userID: 'eve' };
  await expectProblem(await server.pull(request('/x', pull), null), 401, 'unauthenticated');
  await expectProblem(await server.pull(request('/x', pull), eve), 413, 'body-too-large');
  await expectProblem(await server.push(request('/x', { pushVersion: 1 }), eve), 400, 'malformed-request');
  await expectProblem(await server.push(request('/x', adding('4')), eve), 403, 'forbidden');
  await expectProblem(await server.poke(request('/x'), eve), 400, 'malformed-request');
  const refused = await server.poke(new Request('http://localhost/x', { method: 'PUT' }), eve);
  expect(refused.headers.get('Allow')).toBe('GET, POST');
  await expectProblem(refused, 405, 'method-not-allowed');
  await expectProblem(await server.pull(request('/x', pull), { userID: '' }), 401, 'unauthenticated');
});

it('counts direct requests together with those through `fetch`, and ends streams when it drains', async () => {
  const server = await start({ rates: { perUser: 2 }, authenticate: () => ({ userID: 'fay' }) });
  const fay = { userID: 'fay' };
  const stream = readText(await server.poke(request('/x?clientGroupID=fay&profileID=p'), fay));
  await stream.next();
  expect(await keysOf(await server.fetch(request('/sync/pull', pull)))).toEqual([]);
  await expectProblem(await server.pull(request('/x', pull), fay), 429, 'too-many-requests');
  await expectProblem(await server.fetch(request('/sync/pull', pull)), 429, 'too-many-requests');
  server.drain();
  expect(await stream.next()).toBeNull();
  const gus = { userID: 'gus' };
  await expectProblem(await server.poke(request('/x?clientGroupID=g&profileID=p'), gus), 503, 'unavailable');
  expect(await keysOf(await server.pull(request('/x', pull), gus))).toEqual([]);
});
