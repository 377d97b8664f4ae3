/** A standby behind a connection that opens but never responds: a machine that hangs, or a pooler that waits. */
import net from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, tableView } from '../../support/synced.js';
import { ReadingServer } from './reading.js';

const views = { item: tableView('item') };

let database: TestDatabase;
let isResponding = false;
const sockets: net.Socket[] = [];
const pending: (() => void)[] = [];

/** Forwards connections to the database once it responds. */
const relay = net.createServer((socket) => {
  sockets.push(socket);
  const pass = () => {
    const { hostname, port } = new URL(database.url);
    const upstream = net.connect(Number(port), hostname);
    sockets.push(upstream);
    for (const one of [socket, upstream]) one.on('error', () => {});
    socket.pipe(upstream).pipe(socket);
  };
  if (isResponding) pass();
  else pending.push(pass);
});

beforeAll(async () => {
  database = await createSynced('create table item (id text primary key, n int not null)', views);
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await new Promise((resolve) => relay.close(resolve));
  await database.drop();
});

it('an unresponsive standby is excluded, not connected to again, and checked once it responds', async () => {
  const url = new URL(database.url);
  url.port = String((relay.address() as net.AddressInfo).port);
  const server = await ReadingServer.start(database.url, [url.href], { views });
  try {
    await database.pool.query(`insert into item values ('a', 1)`);
    const { patch } = await server.pull(null);
    expect(patch).toContainEqual({ op: 'put', key: 'a', value: { id: 'a', n: 1 } });
    expect(pending).toHaveLength(1);
    isResponding = true;
    for (const pass of pending) pass();
    // It turns out not to be a standby.
    const isChecked = () => server.lines.some(({ message }) => message.includes('is not a standby'));
    await vi.waitFor(() => expect(isChecked()).toBe(true), { timeout: 10_000 });
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
}, 30_000);
