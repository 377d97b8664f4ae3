/** A standby behind a connection that opens, and on which nothing comes back: a machine that hangs, or a pooler that waits. */
import net from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, tableView } from '../../support/synced.js';
import { ReadingServer } from './reading.js';

const views = { item: tableView('item') };

let database: TestDatabase;
let answers = false;
const sockets: net.Socket[] = [];
const held: (() => void)[] = [];

/** Passes connections on to the database once it answers. */
const relay = net.createServer((socket) => {
  sockets.push(socket);
  const pass = () => {
    const { hostname, port } = new URL(database.url);
    const upstream = net.connect(Number(port), hostname);
    sockets.push(upstream);
    for (const one of [socket, upstream]) one.on('error', () => {});
    socket.pipe(upstream).pipe(socket);
  };
  if (answers) pass();
  else held.push(pass);
});

beforeAll(async () => {
  database = await createSynced('create table item (id text primary key, n int not null)', views);
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await new Promise((resolve) => relay.close(resolve));
  await database.drop();
});

it('is left out, is not asked again meanwhile, and is heard once it answers', async () => {
  const url = new URL(database.url);
  url.port = String((relay.address() as net.AddressInfo).port);
  const server = await ReadingServer.start(database.url, [url.href], { views });
  try {
    await database.pool.query(`insert into item values ('a', 1)`);
    const { patch } = await server.pull(null);
    expect(patch).toContainEqual({ op: 'put', key: 'a', value: { id: 'a', n: 1 } });
    expect(held).toHaveLength(1);
    answers = true;
    for (const pass of held) pass();
    // It turns out to be no standby at all.
    const isHeard = () => server.lines.some(({ message }) => message.includes('is not a standby'));
    await vi.waitFor(() => expect(isHeard()).toBe(true), { timeout: 10_000 });
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
}, 30_000);
