/**
 * The limits of REST calls: their statements, on a pool as large as that of the server under test.
 *
 *   POST /rename     a bare Hono route; the body has the mutator's args
 *   POST /renames    takes an array of them, in one transaction
 *   { ids }          a message: only the transactions, one after the other on each connection, for some milliseconds
 */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import pg from 'pg';
import { renameStatement } from '../applications/todos.mjs';

/** @typedef {{ readonly id: string, readonly title: string }} Rename */

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });
pool.on('error', () => {});

/**
 * @param {pg.PoolClient} client
 * @param {readonly Rename[]} renames
 */
async function rename(client, renames) {
  await client.query('begin isolation level repeatable read');
  try {
    for (const { id, title } of renames) await client.query(renameStatement, [id, title]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** @param {readonly Rename[]} renames */
async function renameInPool(renames) {
  const client = await pool.connect();
  try {
    await rename(client, renames);
  } finally {
    client.release();
  }
}

const app = new Hono();
app.post('/rename', async (c) => {
  await renameInPool([await c.req.json()]);
  return c.json({ ok: true });
});
app.post('/renames', async (c) => {
  const renames = await c.req.json();
  await renameInPool(renames);
  return c.json(renames.map(() => ({ ok: true })));
});
// A connection must stay open during the turns of all other contenders.
const serverOptions = { keepAliveTimeout: 75_000 };
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', serverOptions }, ({ port }) => {
  process.send?.({ url: `http://127.0.0.1:${port}` });
});

/**
 * @param {{ ids: readonly (readonly string[])[], milliseconds: number }} work the IDs that each connection renames in a
 *   transaction
 * @returns the number of committed transactions per second
 */
async function transactions({ ids, milliseconds }) {
  const clients = await Promise.all(ids.map(() => pool.connect()));
  const started = performance.now();
  let committed = 0;
  await Promise.all(
    clients.map(async (client, i) => {
      for (; performance.now() - started < milliseconds; committed++) {
        const title = `Renamed ${committed}`;
        await rename(client, ids[i]?.map((id) => ({ id, title })) ?? []);
      }
    }),
  );
  const rate = (1000 * committed) / (performance.now() - started);
  for (const client of clients) client.release();
  return rate;
}

process.on('message', async (/** @type {Parameters<typeof transactions>[0]} */ work) => {
  process.send?.({ rate: await transactions(work) });
});
process.on('disconnect', () => process.exit(0));
