import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { json } from '../../packages/tidemark/src/http/answer.js';
import { type Listening, type ListenOptions, listen } from '../../packages/tidemark/src/node.js';
import { memoryLog } from '../support/log.js';
import { start } from '../support/process.js';
import { createPartsApp } from './endpoints/requests.js';

let listening: Listening | undefined;

afterEach(async () => {
  await listening?.close();
  listening = undefined;
});

async function serve(parts: Parameters<typeof createPartsApp>[0], listenOptions: Partial<ListenOptions> = {}) {
  const { log, lines } = memoryLog();
  const app = createPartsApp(parts, log);
  const close = vi.fn(async () => {});
  listening = await listen(
    { ...app, close },
    { log, port: 0, hostname: '127.0.0.1', signals: false, drainMs: 500, ...listenOptions },
  );
  const { url } = listening;
  const pull = (init: RequestInit = {}) =>
    fetch(`${url}/sync/pull`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"pullVersion":1,"clientGroupID":"g","profileID":"p","schemaVersion":"","cookie":null}',
      ...init,
    });
  return { url, stop: listening.close, pull, close, lines };
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** A pull whose response consists of the pieces that `generate` yields. */
function inPieces(generate: () => AsyncGenerator<Uint8Array>) {
  return async () => ({ kind: 'json in pieces' as const, pieces: generate() });
}

const requestLines = (lines: { message: string }[]) => lines.filter((line) => line.message === 'Request');

describe('a streamed response', () => {
  it('arrives completely', async () => {
    const { pull, lines } = await serve({
      pull: inPieces(async function* () {
        yield bytes('{"patch":[');
        for (let i = 0; i < 2_000; i++) yield bytes(`${i},`.repeat(200));
        yield bytes('0]}');
      }),
    });
    const body = (await (await pull()).json()) as { patch: number[] };
    expect(body.patch).toHaveLength(400_001);
    await vi.waitFor(() =>
      expect(requestLines(lines)).toMatchObject([{ fields: { status: 200, outcome: 'complete' } }]),
    );
  });

  it('sends its first chunk before the second is ready', async () => {
    let release = () => {};
    const pause = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { pull } = await serve({
      pull: inPieces(async function* () {
        yield bytes('{"a":');
        await pause;
        yield bytes('1}');
      }),
    });
    const reader = (await pull()).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('{"a":');
    release();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('1}');
  });

  it('becomes an error response if it fails before its first chunk', async () => {
    const { pull } = await serve({
      pull: inPieces(
        // biome-ignore lint/correctness/useYield: it fails before its first chunk
        async function* (): AsyncGenerator<Uint8Array> {
          throw Object.assign(new Error('secret'), { code: '57P01' });
        },
      ),
    });
    const response = await pull();
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('secret');
  });

  it.each([1, 3, 100])('closes the connection without an error text if it fails after %d chunks', async (chunks) => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { pull, lines } = await serve({
      pull: inPieces(async function* () {
        // A prefix that is complete JSON on its own.
        yield bytes('{}');
        for (let i = 1; i < chunks; i++) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          yield bytes(' '.repeat(100));
        }
        throw new Error('relation "secret" does not exist');
      }),
    });
    let text = '';
    const read = async () => {
      for await (const chunk of (await pull()).body ?? []) text += Buffer.from(chunk).toString();
    };
    await expect(read()).rejects.toThrow();
    expect(text).not.toContain('secret');
    expect(printed).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(requestLines(lines)).toMatchObject([{ fields: { outcome: 'failed' } }]));
    expect(lines.filter((line) => line.level === 'error')).toMatchObject([
      { fields: { error: { message: 'relation "secret" does not exist' }, requestID: expect.any(String) } },
    ]);
    printed.mockRestore();
  });

  it('closes the connection if it fails after a part has been compressed', async () => {
    const { pull, lines } = await serve({
      compression: true,
      pull: inPieces(async function* () {
        for (let i = 0; i < 100; i++) yield randomBytes(10_000);
        throw new Error('relation "secret" does not exist');
      }),
    });
    const response = await pull({ headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'gzip' } });
    expect(response.headers.get('Content-Encoding')).toBe('gzip');
    await expect(response.arrayBuffer()).rejects.toThrow();
    await vi.waitFor(() => expect(requestLines(lines)).toMatchObject([{ fields: { outcome: 'failed' } }]));
  });

  it('pauses while its client does not read, and ends when the client disconnects', async () => {
    const returned = vi.fn();
    let sent = 0;
    const { pull, lines } = await serve({
      pull: inPieces(async function* () {
        try {
          for (;;) {
            sent += 1;
            yield new Uint8Array(64 * 1024);
          }
        } finally {
          returned();
        }
      }),
    });
    const abort = new AbortController();
    const response = await pull({ signal: abort.signal });
    await response.body?.getReader().read();
    // The client reads no further, so the server produces nothing more.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const before = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(sent).toBe(before);
    abort.abort();
    await vi.waitFor(() => expect(returned).toHaveBeenCalledOnce());
    await vi.waitFor(() => expect(requestLines(lines)).toMatchObject([{ fields: { outcome: 'cancelled' } }]));
  });
});

describe('listen', () => {
  it('returns its URL, and refuses a port in use', async () => {
    const { url } = await serve({});
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const { log } = memoryLog();
    const second = listen(
      { fetch: () => new Response(), close: async () => {} },
      { log, port: Number(new URL(url).port), hostname: '127.0.0.1' },
    );
    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('lets running requests finish when it stops, then closes the service once', async () => {
    let release = () => {};
    const { pull, stop, close, url } = await serve({
      pull: () =>
        new Promise((resolve) => {
          release = () => resolve(json({ late: true }));
        }),
    });
    const running = pull();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const stopped = Promise.all([stop(), stop()]);
    await vi.waitFor(() => expect(fetch(`${url}/healthz`)).rejects.toThrow());
    expect(close).not.toHaveBeenCalled();
    release();
    expect(await (await running).json()).toEqual({ late: true });
    await stopped;
    expect(close).toHaveBeenCalledOnce();
  });

  it('cuts off requests that do not finish in time when it stops', async () => {
    const { pull, stop, close } = await serve({ pull: () => new Promise(() => {}) });
    const running = pull();
    running.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    const started = performance.now();
    await stop();
    expect(performance.now() - started).toBeGreaterThan(400);
    await expect(running).rejects.toThrow();
    expect(close).toHaveBeenCalledOnce();
  });

  it('lets a client read the rest of a complete response when it stops', async () => {
    const { url, stop } = await serve(
      { pull: async () => json({ long: 'x'.repeat(20_000_000) }) },
      { drainMs: 20_000 },
    );
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const body = JSON.stringify({
      pullVersion: 1,
      clientGroupID: 'g',
      profileID: 'p',
      schemaVersion: '',
      cookie: null,
    });
    socket.write(
      `POST /sync/pull HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await new Promise((resolve) => socket.once('readable', resolve));
    const stopped = stop();
    await new Promise((resolve) => setTimeout(resolve, 500));
    let bytes = 0;
    for await (const chunk of socket) bytes += (chunk as Buffer).length;
    expect(bytes).toBeGreaterThan(20_000_000);
    await stopped;
  });

  it('does not wait for connections that have sent nothing when it stops', async () => {
    const { url, stop } = await serve({}, { drainMs: 25_000 });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await new Promise((resolve) => socket.once('connect', resolve));
    const started = performance.now();
    await Promise.all([stop(), closed]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('cuts off WebSockets that other code accepted on its server when it stops', async () => {
    const { url, stop } = await serve({}, { drainMs: 200 });
    listening!.server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const accepted = await new Promise((resolve) => socket.once('data', resolve));
    expect(String(accepted)).toContain('101');
    await Promise.all([stop(), closed]);
  });

  it('continues after a request that is not HTTP, and after a body that breaks off', async () => {
    const { url, lines } = await serve({});
    const { port } = new URL(url);
    for (const text of [
      'nonsense\r\n\r\n',
      'POST /sync/push HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"push',
      'POST /sync/push HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"pus',
    ]) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => {});
      socket.write(text);
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.destroy();
    }
    await vi.waitFor(() => expect(requestLines(lines).map((line) => line.message)).toHaveLength(2));
    expect(lines.filter((line) => line.level === 'error' || line.level === 'warn')).toEqual([]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

it('listen accepts 700 connections that arrive while the process is busy', async () => {
  const { url } = await serve({});
  const script = `
    const { connect } = require('node:net');
    let connected = 0;
    const onConnect = () => ++connected === 700 && process.exit();
    for (let i = 0; i < 700; i++) connect(${new URL(url).port}, '127.0.0.1', onConnect).on('error', () => {});
  `;
  // While the script runs, this process accepts no connections.
  const { status } = spawnSync(process.execPath, ['-e', script], { stdio: 'inherit', timeout: 15_000 });
  expect(status).toBe(0);
});

describe('a process', () => {
  const script = `
    import { listen } from './packages/tidemark/src/node.ts';
    const write = (fields, message) => console.log(message, JSON.stringify(fields));
    const log = { debug: write, info: write, warn: write, error: write };
    const close = async () => console.log('closed');
    const fetch = (request) => request.url.endsWith('/hang') ? new Promise(() => {}) : new Response('ok');
    await listen({ fetch, close }, { log, port: 0, hostname: '127.0.0.1' });
  `;

  async function startServing() {
    const program = start('--import', ['tsx', '--input-type=module', '-e', script], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    });
    const [, url = ''] = await program.printed(/Listening .*"url":"([^"]+)"/);
    return { ...program, url };
  }

  it('closes its service and exits with 0 after SIGTERM', async () => {
    const { child, ended, url } = await startServing();
    await fetch(url);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('closed') });
  });

  it('ends immediately after a second signal', async () => {
    const { child, ended, printed, url } = await startServing();
    fetch(`${url}/hang`).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.kill('SIGINT');
    await printed(/Stopping/);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 1, stdout: expect.not.stringContaining('closed') });
  });
});
