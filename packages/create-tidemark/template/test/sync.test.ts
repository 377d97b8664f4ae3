import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@tidemark/client';
import { listen, logFromEnvironment, openDatabase } from 'tidemark/node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openService, prepareDatabase } from '../server/service.ts';
import type { mutators, views } from '../server/sync.ts';

let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  // An embedded database of its own, even if DATABASE_URL is set.
  const directory = await mkdtemp(join(tmpdir(), 'todos-'));
  vi.stubEnv('DATABASE_URL', '').stubEnv('TIDEMARK_DATA', directory);
  const log = logFromEnvironment('warn');
  const database = await openDatabase({ log });
  await prepareDatabase(database, log);
  const service = await openService(database, log, (c) => c.notFound());
  const server = await listen(service, { log, port: 0, hostname: '127.0.0.1', signals: false });
  url = server.url;
  close = async () => {
    await server.close();
    await database.close();
    await rm(directory, { recursive: true });
  };
}, 60_000);

afterAll(() => close());

/** Opens one of Ann's devices, with its own local data. */
const openDevice = (name: string) =>
  createClient<typeof mutators, typeof views>({ url, user: name, auth: 'Bearer ann', kvStore: 'mem' });

it('what one client does reaches another', async () => {
  const [laptop, phone] = [openDevice('laptop'), openDevice('phone')];
  await laptop.mutate.todo.create({ id: '1', list: 'Home', title: 'Say hello', created: '2026-01-01T12:00:00.000Z' });
  await laptop.mutate.todo.setDone({ id: '1', done: true });
  phone.preload('todo', { list: 'Home' });
  const todos = phone.view('todo', { list: 'Home' });
  await vi.waitFor(
    async () => expect(await todos.list()).toMatchObject([{ id: '1', title: 'Say hello', done: true }]),
    { timeout: 10_000 },
  );
  await Promise.all([laptop.close(), phone.close()]);
});
