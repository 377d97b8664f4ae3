import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createSync, lazySync, migrate, type Sync } from '../../packages/tidemark/src/index.js';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';
import { memoryLog } from '../support/log.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
  await migrate({ database: database.url, views: {}, log });
});
afterAll(() => database.drop());

const { log } = memoryLog();
const start = (): Promise<Sync> =>
  createSync({ database: database.url, views: {}, authenticate: () => ({ userID: 'ann' }), log });
const ask = (sync: Sync, path = '/healthz') => sync.fetch(new Request(`http://localhost${path}`));

it('a lazy sync starts once, at its first use', async () => {
  const starts = vi.fn(start);
  const sync = lazySync(starts);
  expect(starts).not.toHaveBeenCalled();
  const answers = await Promise.all([ask(sync), ask(sync), sync.ready()]);
  expect(answers.map((answer) => answer?.status)).toEqual([200, 200, undefined]);
  await sync.onPoke({ userID: 'ann' }, () => {}).then((end) => end());
  await sync.disconnect('ann');
  expect(starts).toHaveBeenCalledOnce();
  await sync.close();
});

it('a lazy sync answers like the sync that it starts', async () => {
  const sync = lazySync(start);
  const post = () => new Request('http://localhost/any', { method: 'POST', body: '{}' });
  const answers = await Promise.all([sync.pull(post(), null), sync.push(post(), null), sync.poke(post(), null)]);
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  await sync.close();
});

it('a lazy sync reports why it cannot start, and tries again at the next request', async () => {
  const starts = vi.fn(start).mockRejectedValueOnce(new Error('no database'));
  const sync = lazySync(starts);
  await expect(Promise.all([ask(sync), ask(sync)])).rejects.toThrow('no database');
  expect((await ask(sync)).status).toBe(200);
  expect(starts).toHaveBeenCalledTimes(2);
  await sync.close();
});

it('a lazy sync drains and closes a sync that has started', async () => {
  const sync = lazySync(start);
  await ask(sync);
  sync.drain();
  await vi.waitFor(async () => expect((await ask(sync, '/readyz')).status).toBe(503), { timeout: 10_000 });
  await sync.close();
  const ours = `datname = current_database() and application_name = 'tidemark'`;
  const left = async () => (await database.pool.query(`select from pg_stat_activity where ${ours}`)).rowCount;
  await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 10_000 });
});

it('a lazy sync drains and closes a sync that is still starting', async () => {
  const ended: string[] = [];
  const sync = lazySync(async () => {
    const started = await start();
    return {
      ...started,
      drain: () => ended.push('drained'),
      close: () => started.close().then(() => void ended.push('closed')),
    };
  });
  const pending = ask(sync);
  sync.drain();
  await sync.close();
  expect((await pending).status).toBe(200);
  expect(ended).toContain('drained');
  expect(ended.at(-1)).toBe('closed');
});

it('a lazy sync does not start after it was drained and closed', async () => {
  const starts = vi.fn(start);
  const sync = lazySync(starts);
  sync.drain();
  await sync.close();
  await expect(ask(sync)).rejects.toThrow('The server is stopping');
  expect(starts).not.toHaveBeenCalled();
});
