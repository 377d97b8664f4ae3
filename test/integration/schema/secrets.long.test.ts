/** Cookies across a rotation of the secret that signs them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { rotateSecret } from '../../../packages/tidemark/src/schema/secrets.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { mutation, type PullAnswer, pull, push } from '../conformance/wire.js';

type Cookie = PullAnswer['cookie'];

const clear = { op: 'clear' };
const retentionSeconds = 3600;

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
  await push(server, 'ann', [mutation(1, 'list.create', { id: 'l', name: 'List' })]);
});
afterEach(() => server.close());

async function rotate(): Promise<void> {
  const db = openPool(server.pool);
  await rotateSecret(db, retentionSeconds);
  await readAgain();
}

/** A running server rereads the schema state after a second. A server that starts reads it immediately. */
async function readAgain(): Promise<void> {
  await server.stop();
  await server.start();
}

/** Simulates that this many seconds have passed. */
async function later(seconds: number): Promise<void> {
  await server.pool.query(
    `update tidemark.meta set signs_from = signs_from - make_interval(secs => $1),
      previous_until = previous_until - make_interval(secs => $1)`,
    [seconds],
  );
  await readAgain();
}

const firstCookie = async (): Promise<Cookie> => (await pull(server, 'ann')).cookie;
const pullWith = (cookie: Cookie) => pull(server, 'ann', { cookie });
const rename = (name: string) => server.pool.query('update list set name = $1', [name]);

it('a cookie signed with the previous secret is renewed, and both cookies get deltas', async () => {
  const old = await firstCookie();
  await rotate();
  await later(61);
  const renewed = await pullWith(old);
  expect(renewed.patch).toEqual([]);
  expect(renewed.cookie).not.toEqual(old);
  // The new cookie is as good as any other, because nothing has changed.
  expect(await pullWith(renewed.cookie)).toMatchObject({ cookie: renewed.cookie, patch: [] });
  await rename('Changed');
  for (const cookie of [old, renewed.cookie]) {
    const { patch } = await pullWith(cookie);
    expect(patch).toEqual([expect.objectContaining({ op: 'put', key: 'list/l' })]);
  }
});

it('a server signs with the new secret only once all servers have it', async () => {
  const old = await firstCookie();
  await rotate();
  expect(await pullWith(old)).toMatchObject({ cookie: old, patch: [] });
  await rename('Changed');
  const { cookie } = await pullWith(old);
  // A server that has only the previous secret would still accept it.
  await server.pool.query(
    'update tidemark.meta set secret = previous_secret, previous_secret = null, signs_from = null, previous_until = null',
  );
  await readAgain();
  expect(await pullWith(cookie)).toMatchObject({ cookie, patch: [] });
});

it('the previous secret is valid for the retention time after it last signed', async () => {
  const old = await firstCookie();
  await rotate();
  await later(retentionSeconds + 30);
  expect((await pullWith(old)).patch).toEqual([]);
  const { cookie } = await pullWith(old);
  await later(60);
  expect((await pullWith(old)).patch[0]).toEqual(clear);
  expect((await pullWith(cookie)).patch).toEqual([]);
});

it('a second rotation invalidates the first secret', async () => {
  const old = await firstCookie();
  await rotate();
  await later(61);
  const { cookie } = await pullWith(old);
  await rotate();
  expect((await pullWith(old)).patch[0]).toEqual(clear);
  expect((await pullWith(cookie)).patch).toEqual([]);
});

it('a cookie that neither secret has signed leads to a reset', async () => {
  const old = await firstCookie();
  await rotate();
  for (const seconds of [0, 61]) {
    await later(seconds);
    expect((await pullWith({ ...old, mutations: 0 })).patch[0]).toEqual(clear);
    expect((await pullWith({ ...old, signature: 'A'.repeat(22) })).patch[0]).toEqual(clear);
    const { patch, cookie } = await pullWith(old);
    expect(patch).toEqual([]);
    expect(Object.keys(cookie)).toEqual(Object.keys(old));
  }
});

it('a running server renews a cookie that it has cached, and later refuses it', async () => {
  const old = await firstCookie();
  await pullWith(old);
  await rotateSecret(openPool(server.pool), retentionSeconds);
  await server.pool.query('update tidemark.meta set signs_from = now()');
  await expect.poll(async () => (await pullWith(old)).cookie).not.toEqual(old);
  expect((await pullWith(old)).patch).toEqual([]);
  await server.pool.query('update tidemark.meta set previous_until = now()');
  await expect.poll(async () => (await pullWith(old)).patch[0]).toEqual(clear);
});
