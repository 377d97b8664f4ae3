/** What becomes of cookies when the secret that signs them is rotated. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPool } from '../../../src/db/pg.js';
import { rotateSecret } from '../../../src/installation/secrets.js';
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

/** Servers read the installation again after a second; one that starts has it at once. */
async function readAgain(): Promise<void> {
  await server.stop();
  await server.start();
}

/** As if so many seconds had passed. */
async function later(seconds: number): Promise<void> {
  await server.pool.query(
    `update tidemark.meta set signs_from = signs_from - make_interval(secs => $1),
      previous_until = previous_until - make_interval(secs => $1)`,
    [seconds],
  );
  await readAgain();
}

const first = async (): Promise<Cookie> => (await pull(server, 'ann')).cookie;
const pulled = (cookie: Cookie) => pull(server, 'ann', { cookie });
const rename = (name: string) => server.pool.query('update list set name = $1', [name]);

it('a cookie of the previous secret is renewed, and both get deltas', async () => {
  const old = await first();
  await rotate();
  await later(61);
  const renewed = await pulled(old);
  expect(renewed.patch).toEqual([]);
  expect(renewed.cookie).not.toEqual(old);
  // It is as good as any: nothing has changed.
  expect(await pulled(renewed.cookie)).toMatchObject({ cookie: renewed.cookie, patch: [] });
  await rename('Changed');
  for (const cookie of [old, renewed.cookie]) {
    const { patch } = await pulled(cookie);
    expect(patch).toEqual([expect.objectContaining({ op: 'put', key: 'list/l' })]);
  }
});

it('a server signs with the new secret only when all know it', async () => {
  const old = await first();
  await rotate();
  expect(await pulled(old)).toMatchObject({ cookie: old, patch: [] });
  await rename('Changed');
  const { cookie } = await pulled(old);
  // A server that knows only the secret from before would still accept it.
  await server.pool.query(
    'update tidemark.meta set secret = previous_secret, previous_secret = null, signs_from = null, previous_until = null',
  );
  await readAgain();
  expect(await pulled(cookie)).toMatchObject({ cookie, patch: [] });
});

it('the previous secret is good for the retention, from when it last signed', async () => {
  const old = await first();
  await rotate();
  await later(retentionSeconds + 30);
  expect((await pulled(old)).patch).toEqual([]);
  const { cookie } = await pulled(old);
  await later(60);
  expect((await pulled(old)).patch[0]).toEqual(clear);
  expect((await pulled(cookie)).patch).toEqual([]);
});

it('a second rotation ends the first secret', async () => {
  const old = await first();
  await rotate();
  await later(61);
  const { cookie } = await pulled(old);
  await rotate();
  expect((await pulled(old)).patch[0]).toEqual(clear);
  expect((await pulled(cookie)).patch).toEqual([]);
});

it('what neither secret has signed is refused', async () => {
  const old = await first();
  await rotate();
  for (const seconds of [0, 61]) {
    await later(seconds);
    expect((await pulled({ ...old, mutations: 0 })).patch[0]).toEqual(clear);
    expect((await pulled({ ...old, signature: 'A'.repeat(22) })).patch[0]).toEqual(clear);
    const { patch, cookie } = await pulled(old);
    expect(patch).toEqual([]);
    expect(Object.keys(cookie)).toEqual(Object.keys(old));
  }
});

it('a cookie that a server knows is renewed, and refused in time, without a start', async () => {
  const old = await first();
  await pulled(old);
  await rotateSecret(openPool(server.pool), retentionSeconds);
  await server.pool.query('update tidemark.meta set signs_from = now()');
  await expect.poll(async () => (await pulled(old)).cookie).not.toEqual(old);
  expect((await pulled(old)).patch).toEqual([]);
  await server.pool.query('update tidemark.meta set previous_until = now()');
  await expect.poll(async () => (await pulled(old)).patch[0]).toEqual(clear);
});
