import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Result } from '../../../../bench/scenario.js';
import { applied, mutation, pull, push } from '../../../integration/conformance/wire.js';
import { expectSound, type SentRequest, send } from '../../../integration/rest/sent.js';
import { bombs, hostileRequests, texts } from '../hostile.js';
import type { Line } from '../line.js';
import { atMostOf, figure, none, some } from '../results.js';
import { type Rig, withRig } from '../rig/rig.js';
import type { Server } from '../rig/server.js';

const sizes = {
  full: { every: 1, sockets: 400, slowMs: 30_000 },
  short: { every: 23, sockets: 50, slowMs: 1_500 },
};
const atOnce = 8;
const answeredMs = 1_000;

export const hostileInput: Line = {
  line: '11',
  title:
    'Hostile input at every endpoint: malformed JSON, naughty strings, deep nesting, huge numbers, `__proto__`, gzip bombs and other oversized bodies, slow sockets',
  pass: 'no 5xx and no crash; accepted input comes back unchanged, and the server refuses the rest with a 4xx',
  minutes: 4,
  async run(torture) {
    const { every, sockets, slowMs } = sizes[torture.size];
    const run = async ({ servers: [server] }: Rig): Promise<Result[]> => {
      const requests = [...hostileRequests(every), ...bombs()];
      const unsound = await sendAll(server!, requests);
      torture.progress(`${requests.length} requests`);
      const changed = await countChanged(server!);
      torture.progress(`${texts.length} texts there and back`);
      const slowest = await servesBeside(server!, sockets, slowMs);
      const ready = await fetch(`${server!.url}/readyz`).catch(() => undefined);
      return [
        some('hostile requests', requests.length),
        none('answered with a 5xx, with a text that reveals too much, or not at all', unsound),
        some('texts stored', texts.length),
        none('texts that came back changed, or not at all', changed),
        some('slow sockets', sockets),
        atMostOf('slowest push and pull while slow sockets are open', slowest, 'ms', answeredMs),
        none('servers that crashed or were not ready', ready?.status === 200 ? 0 : 1),
        figure('memory of the server at the end', (await server!.state()).rssMB, 'MB'),
      ];
    };
    return { results: await withRig(torture, run, { servers: 1 }) };
  },
};

async function sendAll({ url }: Server, requests: readonly SentRequest[]): Promise<number> {
  const left = [...requests];
  let unsound = 0;
  const sendOn = async () => {
    for (let request = left.pop(); request; request = left.pop()) {
      try {
        expectSound(await send(url, request));
      } catch (error) {
        // The server may close the connection during a body that is too large.
        if (isCut(error) && request.body!.length > 2 ** 20) continue;
        unsound++;
        console.error(`  ${request.method ?? 'POST'} ${request.path.slice(0, 100)}: ${String(error).slice(0, 300)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sendOn));
  return unsound;
}

function isCut(error: unknown): boolean {
  return error instanceof TypeError && /EPIPE|ECONNRESET|other side closed/.test(String(error.cause));
}

/** The number of texts that a push and a pull change. Postgres cannot store some texts, which are refused. */
async function countChanged(server: Server): Promise<number> {
  const group = { clientGroupID: 'naughty' };
  const notes = texts.map((text, i) => mutation(i + 1, 'note', { id: `${i} ${text}`, body: text }, 'naughty'));
  await push(server, 'naughty', notes, group);
  const { patch } = await pull(server, 'naughty', group);
  const rows = applied(new Map(), patch);
  return texts.filter((text, i) => {
    const row = rows.get(`document/${i} ${text}`) as { body: string } | undefined;
    const isStorable = !text.includes('\0') && text.isWellFormed();
    const isChanged = row?.body !== (isStorable ? text : undefined);
    if (isChanged)
      console.error(
        `  text ${i}: ${JSON.stringify(text).slice(0, 100)} came back as ${JSON.stringify(row?.body)?.slice(0, 100)}`,
      );
    return isChanged;
  }).length;
}

/** Sends requests byte by byte over many sockets. Returns the longest duration of another user's requests. */
async function servesBeside(server: Server, count: number, forMs: number): Promise<number> {
  const { hostname, port } = new URL(server.url);
  const head =
    'POST /sync/pull HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer slow\r\nContent-Type: application/json\r\n';
  const sockets = Array.from({ length: count }, (_, i) => {
    const text = i % 2 === 0 ? head : `${head}Content-Length: 1000\r\n\r\n`;
    return dribble(connect(Number(port), hostname), text, i % 2 === 0 ? 0 : text.length);
  });
  let slowest = 0;
  for (let id = 1, end = performance.now() + forMs; performance.now() < end; id++) {
    const started = performance.now();
    await push(server, 'quick', [mutation(id, 'count', { clientID: 'quick', n: id }, 'quick')], {
      clientGroupID: 'quick',
    });
    await pull(server, 'quick', { clientGroupID: 'quick' });
    slowest = Math.max(slowest, performance.now() - started);
    await sleep(20);
  }
  for (const { socket, timer } of sockets) {
    clearInterval(timer);
    socket.destroy();
  }
  return slowest;
}

/** Sends this many characters in one write, and the rest one at a time. */
function dribble(socket: Socket, text: string, atOnce: number): { socket: Socket; timer: NodeJS.Timeout } {
  socket.on('error', () => {});
  socket.write(text.slice(0, atOnce));
  let sent = atOnce;
  const timer = setInterval(() => socket.writable && socket.write(text[sent++] ?? ' '), 500);
  return { socket, timer };
}
