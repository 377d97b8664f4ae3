/** A client in a process without a `window`, such as a server that renders pages. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../../packages/client/src/index.js';
import { builtClient } from '../../support/built.js';

/** Runs a module that creates a client until its process ends. Returns the module's output. */
async function run(options: object, body: string): Promise<unknown> {
  const script = `
    import { createClient } from '${builtClient}/index.js';
    const client = createClient(${JSON.stringify(options)});
    ${body}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 20_000,
  });
  return JSON.parse(stdout);
}

/** A server that counts its requests and never responds. */
async function silentServer() {
  let requests = 0;
  const server = createServer(() => requests++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
}

it('an unused client needs neither an address nor a store, and shows its initial state', async () => {
  const shown = `
    const { status, pending, refused } = client;
    const rows = client.view('todo').observe();
    const unconfirmed = client.view('todo').observeUnconfirmed();
    console.log(JSON.stringify([status.get().state, pending.get(), refused.get(), rows.get(), [...unconfirmed.get()]]));`;
  expect(await run({ user: 'ann' }, shown)).toEqual(['connecting', [], [], { complete: false }, []]);
});

it('an unused client sends nothing, and lets its process end', async () => {
  const { url, requests } = await silentServer();
  expect(await run({ user: 'ann', url, kvStore: 'mem' }, "console.log('null'); await client.close();")).toBeNull();
  expect(await run({ user: 'ann', url, kvStore: 'mem' }, "console.log('null')")).toBeNull();
  expect(requests()).toBe(0);
});

it('a client starts with its first use, and lets its process end once it is closed', async () => {
  const { url, requests } = await silentServer();
  const used = `
    const rows = await client.view('todo').list();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await client.mutate.todo.create({ id: '1' });
    console.log(JSON.stringify([rows, client.pending.get().length]));
    await client.close();`;
  expect(await run({ user: 'ann', url, kvStore: 'mem' }, used)).toEqual([[], 1]);
  expect(requests()).toBeGreaterThan(0);
});

it('a client reports what its environment lacks when it is used', async () => {
  const client = createClient({ user: 'ann' });
  await expect(client.view('todo').list()).rejects.toMatchObject({ code: 'no-url' });
  expect(() => client.status.subscribe(() => {})).toThrow(expect.objectContaining({ code: 'no-url' }));
  const stored = createClient({ user: 'ann', url: 'http://127.0.0.1:1' });
  await expect(stored.pull()).rejects.toMatchObject({ code: 'no-indexeddb' });
  await stored.close();
  await expect(stored.pull()).rejects.toMatchObject({ code: 'closed' });
  expect(() => createClient({ user: '' })).toThrow(expect.objectContaining({ code: 'no-user' }));
});
