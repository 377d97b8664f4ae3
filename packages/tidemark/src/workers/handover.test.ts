/** Hands connections to servers in this process, in place of worker processes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Handover, type Taker } from './handover.js';

let handover: Handover;
let url: string;

beforeEach(async () => {
  handover = new Handover();
  url = await handover.listen(0, '127.0.0.1');
});
afterEach(() => handover.close());

const answer = (text: string) => (_: IncomingMessage, response: ServerResponse) =>
  response.writeHead(200, { Connection: 'close' }).end(text);

/** Serves its connections without confirming them, which would close the only copy that these tests have. */
function server(name: string): Taker {
  const http = createServer(answer(name));
  return {
    give(_, socket: Socket) {
      http.emit('connection', socket);
      socket.resume();
    },
  };
}

/** Takes no connections, like a process that has just been killed. */
function unresponsive() {
  const receivedIDs: number[] = [];
  return { receivedIDs, give: (id: number) => void receivedIDs.push(id) };
}

const fetchText = async () => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();

it('gives connections to the processes in turn', async () => {
  handover.add(server('a'));
  handover.add(server('b'));
  expect([await fetchText(), await fetchText(), await fetchText(), await fetchText()]).toEqual(['a', 'b', 'a', 'b']);
});

it('gives the unconfirmed connections of a process that has exited to another one', async () => {
  const killed = unresponsive();
  handover.add(killed);
  const answers = [fetchText(), fetchText()];
  await vi.waitFor(() => expect(killed.receivedIDs).toHaveLength(2));
  handover.add(server('b'));
  handover.handleExit(killed);
  expect(await Promise.all(answers)).toEqual(['b', 'b']);
});

it('keeps connections that arrive while there is no process', async () => {
  const answers = [fetchText(), fetchText()];
  const killed = unresponsive();
  handover.add(killed);
  await vi.waitFor(() => expect(killed.receivedIDs).toHaveLength(2));
  handover.handleExit(killed);
  handover.add(server('b'));
  expect(await Promise.all(answers)).toEqual(['b', 'b']);
});

it('gives no more connections to a removed process, which keeps those that it has', async () => {
  const removed = unresponsive();
  handover.add(removed);
  const unanswered = fetchText().catch(() => 'closed');
  await vi.waitFor(() => expect(removed.receivedIDs).toHaveLength(1));
  handover.remove(removed);
  handover.add(server('b'));
  expect(await fetchText()).toBe('b');
  handover.confirm(removed.receivedIDs[0]!);
  handover.handleExit(removed);
  // In this test, the copy was the only socket of the connection.
  expect(await unanswered).toBe('closed');
});
