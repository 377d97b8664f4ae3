/** A server that serves connections which another one has accepted. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silent } from '../../test/support/log.js';
import { Serving } from '../serving.js';

let serving: Serving;
let acceptor: Server;
let release = () => {};

beforeEach(async () => {
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fetch = async ({ url }: Request) => {
    if (url.endsWith('/held')) await held;
    return new Response('answer');
  };
  serving = new Serving({ fetch, close: async () => {} }, { log: silent });
  acceptor = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    serving.adopt(socket);
    socket.resume();
  });
  acceptor.listen(0, '127.0.0.1');
  await once(acceptor, 'listening');
});
afterEach(async () => {
  release();
  await serving.stop();
  acceptor.close();
});

const open = () => connect((acceptor.address() as AddressInfo).port, '127.0.0.1');

async function allOf(socket: Socket): Promise<string> {
  let text = '';
  socket.setTimeout(5_000, () => socket.destroy(new Error('It hangs')));
  for await (const piece of socket.setEncoding('utf8')) text += piece;
  return text;
}

it('answers, also a client that has ended its half', async () => {
  const socket = open();
  socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*answer/);
});

it('waits no longer for headers than on connections of its own', async () => {
  // The usual limits are too long for a test.
  Object.assign(serving.server, { headersTimeout: 100, connectionsCheckingInterval: 50 });
  const socket = open();
  socket.write('GET / HTTP/1.1\r\nHost:');
  expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 408 /);
});

it('stops when what it has been given is answered', async () => {
  const socket = open();
  socket.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(serving.server, 'request');
  let hasStopped = false;
  const stopped = serving.stop().finally(() => {
    hasStopped = true;
  });
  await sleep(300);
  expect(hasStopped).toBe(false);
  release();
  expect(await allOf(socket)).toMatch(/Connection: close\r\n[\s\S]*answer/i);
  expect(await stopped).toBe(true);
});
