/** Serves connections that another server has accepted. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silent } from '../../../../test/support/log.js';
import { Serving } from '../serving.js';

let serving: Serving;
let acceptor: Server;
let release = () => {};

beforeEach(async () => {
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fetch = async ({ url }: Request) => {
    if (url.endsWith('/held')) await blocked;
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

it('answers a client that has already closed its half of the connection', async () => {
  const socket = open();
  socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*answer/);
});

it('limits the wait for headers on adopted connections', async () => {
  // The default limits are too long for a test.
  Object.assign(serving.server, { headersTimeout: 100, connectionsCheckingInterval: 50 });
  const socket = open();
  socket.write('GET / HTTP/1.1\r\nHost:');
  expect(await allOf(socket)).toMatch(/^HTTP\/1\.1 408 /);
});

it('stops after it has answered all requests', async () => {
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
