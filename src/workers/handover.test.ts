/** Connections that are given to processes: here, to servers of this one. */
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

/** Serves what it is given, without saying that it has it, which would close a copy that is here the only one. */
function server(name: string): Taker {
  const http = createServer(answer(name));
  return {
    give(_, socket: Socket) {
      http.emit('connection', socket);
      socket.resume();
    },
  };
}

/** Takes nothing, as a process that has just been killed. */
function deaf() {
  const given: number[] = [];
  return { given, give: (id: number) => void given.push(id) };
}

const ask = async () => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();

it('gives each process a connection in turn', async () => {
  handover.add(server('a'));
  handover.add(server('b'));
  expect([await ask(), await ask(), await ask(), await ask()]).toEqual(['a', 'b', 'a', 'b']);
});

it('gives what a process has not taken when it is gone to another one', async () => {
  const gone = deaf();
  handover.add(gone);
  const asked = [ask(), ask()];
  await vi.waitFor(() => expect(gone.given).toHaveLength(2));
  handover.add(server('b'));
  handover.lost(gone);
  expect(await Promise.all(asked)).toEqual(['b', 'b']);
});

it('keeps connections that come while there is no process', async () => {
  const asked = [ask(), ask()];
  const gone = deaf();
  handover.add(gone);
  await vi.waitFor(() => expect(gone.given).toHaveLength(2));
  handover.lost(gone);
  handover.add(server('b'));
  expect(await Promise.all(asked)).toEqual(['b', 'b']);
});

it('gives a process that is to end no more connections, and leaves it those that it has', async () => {
  const leaving = deaf();
  handover.add(leaving);
  const kept = ask().catch(() => 'closed');
  await vi.waitFor(() => expect(leaving.given).toHaveLength(1));
  handover.remove(leaving);
  handover.add(server('b'));
  expect(await ask()).toBe('b');
  handover.taken(leaving.given[0]!);
  handover.lost(leaving);
  // Here, the copy was the only one.
  expect(await kept).toBe('closed');
});
