/** The browser's side of pokes, in Node. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect, events, passing, servePokes } from '../support/poke-server.js';
import { start } from '../support/process.js';

const at = (times: readonly number[]) => times.slice(1).map((time, i) => time - times[i]!);

describe('connectPokes', () => {
  it('identifies its client in the request', async () => {
    const { url, requests, asked } = await servePokes();
    const { clientGroupID } = connect(url);
    await asked(1);
    expect(requests[0]).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer one' } });
    const { pathname, searchParams } = new URL(requests[0]!.url!, url);
    expect(pathname).toBe('/sync/poke');
    expect(Object.fromEntries(searchParams)).toEqual({ clientGroupID, profileID: 'p/1', schemaVersion: 'v&2' });
  });

  it('keeps the query of its URL', async () => {
    const { url, requests, asked } = await servePokes();
    const { clientGroupID } = connect(`${url}?room=a%26b`);
    await asked(1);
    const { pathname, searchParams } = new URL(requests[0]!.url!, url);
    expect(pathname).toBe('/sync/poke');
    expect(Object.fromEntries(searchParams)).toMatchObject({ room: 'a&b', clientGroupID, profileID: 'p/1' });
  });

  it('sends no authorization if the client has none', async () => {
    const { url, requests, asked } = await servePokes();
    connect(url, { auth: '' });
    await asked(1);
    expect(requests[0]!.headers).not.toHaveProperty('authorization');
  });

  it('reports each permanent failure once, and no temporary one', async () => {
    const { url, script, asked } = await servePokes();
    const messages: string[] = [];
    const refuse = (status: number) => (response: Parameters<typeof passing>[0]) =>
      void response.writeHead(status).end('{}');
    const page = (response: Parameters<typeof passing>[0]) =>
      void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>');
    script.push(passing, ...[401, 429, 503].map(refuse), passing, refuse(404), passing, refuse(404), passing, page);
    const { pulled } = connect(`${url}?a`, { onError: ({ message }) => messages.push(message) });
    await asked(11);
    expect(messages).toEqual([
      `No pokes from ${url}?a: status 404. It is tried again`,
      `No pokes from ${url}?a: it is no stream of events. It is tried again`,
    ]);
    await pulled(2);
  });

  it('warns on the console without onError', async () => {
    const { url, script, asked } = await servePokes();
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    script.push(passing, (response) => void response.writeHead(400).end());
    connect(url);
    await asked(3);
    expect(warn.mock.calls).toEqual([[`No pokes from ${url}: status 400. It is tried again`]]);
  });

  it('is small, and imports nothing', async () => {
    const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
    const flags = ['--minify', '--format=esm'];
    const { stdout } = await promisify(execFile)(path('../../node_modules/.bin/esbuild'), [
      path('../../packages/client/src/poke.ts'),
      ...flags,
    ]);
    expect(stdout).not.toMatch(/\bimport\b/);
    expect(gzipSync(stdout).length).toBeLessThan(1_700);
  });

  it('pulls immediately for each poke, and for nothing else', async () => {
    const { url, responses, asked } = await servePokes();
    const { pull, pulled } = connect(url);
    await asked(1);
    for (let i = 1; i < 4; i++) {
      await pulled(i);
      responses[0]!.write(':\n\nretry: 20\n\ndata: poke\n\n');
    }
    await pulled(4);
    expect(pull.mock.calls).toEqual(Array(4).fill([{ now: true }]));
  });

  it('reads events from chunks of any size', async () => {
    const { url, responses, script, asked } = await servePokes();
    script.push((response) => events(response));
    const { pull, pulled } = connect(url);
    await asked(1);
    const text = 'retry: 10\n\ndata: poke\n\n:\n\n: Zürich\n\ndata: poke\n\n';
    for (const byte of Buffer.from(text)) {
      responses[0]!.write(Buffer.from([byte]));
      await sleep(2);
    }
    await pulled(2);
    responses[0]!.write(text.repeat(3));
    await pulled(8);
    expect(pull).toHaveBeenCalledTimes(8);
  });

  it('reconnects after about the time that the server names', async () => {
    const { url, script, asked } = await servePokes();
    const times: number[] = [];
    const close = (response: Parameters<typeof passing>[0]) => {
      times.push(performance.now());
      events(response, 'retry: 200\n\n');
      response.end();
    };
    script.push(close, close, close, close, close);
    const { pulled } = connect(url);
    await asked(6);
    for (const ms of at(times)) {
      expect(ms).toBeGreaterThanOrEqual(95);
      expect(ms).toBeLessThan(1_000);
    }
    // The last stream stays open, and brings a poke.
    await pulled(1);
  });

  it('waits longer after each failure, and starts over after a connection', async () => {
    const { url, script, asked } = await servePokes();
    const times: number[] = [];
    const refuse = (response: Parameters<typeof passing>[0]) => {
      times.push(performance.now());
      response.writeHead(503).end('{"error":"later"}');
    };
    const breakOff = (response: Parameters<typeof passing>[0]) => {
      times.push(performance.now());
      response.destroy();
    };
    script.push(passing, refuse, breakOff, refuse, breakOff, refuse, refuse, passing);
    const { pull, pulled } = connect(url);
    await asked(9);
    // Delays start at 20 ms and double, each multiplied by a random factor from 0.5 to 1.5.
    for (const [i, ms] of at(times).entries()) expect(ms).toBeGreaterThanOrEqual(10 * 2 ** i - 2);
    // Once after two failed attempts in a row, and once for the poke.
    await pulled(2);
    expect(pull).toHaveBeenCalledTimes(2);
  });

  it('makes the client renew an expired authorization, and reconnects with the new one', async () => {
    const { url, script, requests, asked } = await servePokes();
    script.push(passing, (response) => void response.writeHead(401).end('{}'));
    const { rep, pull, pulled } = connect(url);
    pull.mockImplementationOnce(async () => {
      rep.auth = 'Bearer two';
    });
    await asked(3);
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer one', 'Bearer two']);
    await pulled(2);
    expect(pull.mock.calls).toEqual([[undefined], [{ now: true }]]);
  });

  it('names the wants in the body of a POST request, and opens another stream soon after they change', async () => {
    const { url, script, requests, responses, asked } = await servePokes();
    const bodies: string[] = [];
    const stay = (response: Parameters<typeof passing>[0]) => {
      response.req.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
      events(response, 'retry: 60000\n\n');
    };
    script.push(stay, stay, passing, stay);
    let change = () => {};
    let wants: readonly string[] = [];
    const { pull, pulled } = connect(url, {
      wants(onChange) {
        change = onChange;
        return wants;
      },
    });
    await asked(1);
    expect(requests[0]!.method).toBe('GET');
    expect(requests[0]!.headers).not.toHaveProperty('content-type');
    wants = ['a'];
    change();
    change();
    await asked(2);
    expect(requests[1]).toMatchObject({
      method: 'POST',
      url: requests[0]!.url,
      headers: { 'content-type': 'application/json', authorization: 'Bearer one' },
    });
    await vi.waitFor(() => expect(bodies).toEqual(['{"wants":["a"]}']));
    expect(responses[0]!.destroyed).toBe(true);
    expect(pull).not.toHaveBeenCalled();
    wants = ['b'];
    change();
    // The third stream ends, and the fourth one brings a poke.
    await asked(4);
    responses[3]!.write('data: poke\n\n');
    await pulled(1);
    await vi.waitFor(() => expect(bodies).toEqual(['{"wants":["a"]}', '{"wants":["b"]}']));
  });

  it('tolerates a client that has been closed', async () => {
    const { url, responses, asked } = await servePokes();
    const { pull, pulled } = connect(url);
    pull.mockRejectedValue(new Error('Closed'));
    await asked(1);
    await pulled(1);
    responses[0]!.write('data: poke\n\n');
    // An unhandled rejection would fail the run.
    await pulled(2);
  });
});

describe('stop', () => {
  const isGone = (response: { destroyed: boolean }) => vi.waitFor(() => expect(response.destroyed).toBe(true));

  it('ends the connection permanently', async () => {
    const { url, responses, requests, asked } = await servePokes();
    const { stop, pull, pulled } = connect(url);
    await asked(1);
    await pulled(1);
    stop();
    await isGone(responses[0]!);
    await sleep(100);
    expect(requests).toHaveLength(1);
    expect(pull).toHaveBeenCalledTimes(1);
  });

  it('ends a request that has no response yet', async () => {
    const { url, responses, script, asked } = await servePokes();
    script.push(() => {});
    const { stop } = connect(url);
    await asked(1);
    stop();
    await isGone(responses[0]!);
  });

  it('prevents the connection if it is called before the client is open', async () => {
    const { url, requests } = await servePokes();
    connect(url).stop();
    await sleep(100);
    expect(requests).toHaveLength(0);
  });

  // The program reports what has kept it running: timers, channels, connections.
  it.each([
    ['a stream is open', `events(response, 'retry: 60000\\n\\ndata: poke\\n\\n')`],
    ['it waits to reconnect', `events(response, 'retry: 60000\\n\\n'), response.end()`],
    ['it waits after a refusal', `response.writeHead(503).end()`],
    ['it waits for a response', `0`],
  ])('lets the process end while %s', async (_, answer) => {
    const program = `
      import { createServer } from 'node:http';
      import { connectPokes } from './packages/client/src/poke.ts';
      const events = (response, text) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(text);
      const server = createServer((_, response) => { ${answer}; setTimeout(finish, 300); });
      const rep = { clientGroupID: 'g', profileID: 'p', schemaVersion: '', auth: '', pull() {} };
      let stop;
      const finish = () => { stop(); server.close(); console.log('stopped'); };
      server.listen(0, '127.0.0.1', () => { stop = connectPokes(rep, { url: 'http://127.0.0.1:' + server.address().port }); });
    `;
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const { child, ended, printed } = start('--import', ['tsx', '--input-type=module', '-e', program], { cwd });
    await printed(/stopped/);
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    clearTimeout(late);
  });
});
