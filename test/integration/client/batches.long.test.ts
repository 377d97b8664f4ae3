import { expect, it, vi } from 'vitest';
import { useApplication } from './application.js';
import { bodiesSentTo } from './sent.js';

const application = useApplication();

const small = 1_100;

it('calls are sent in batches of at most 500 calls and 512 KiB', async () => {
  const ann = application.client();
  await expect.poll(() => ann.status.get().state).toBe('online');
  ann.setOnline(false);
  // A push may have begun with the mutations that were pending when it was due. It waits for the network.
  for (let i = 0; i < small; i++) await ann.mutate.list.create({ id: `${1000 + i}`, name: 'Small' });
  // The server refuses names of this length, which does not matter here.
  const large = ['large 1', 'large 2', 'large 3'];
  for (const id of large) await ann.mutate.list.create({ id, name: 'x'.repeat(300_000) });

  const fetching = vi.spyOn(globalThis, 'fetch');
  ann.setOnline(true);
  await expect.poll(() => ann.pending.get().length, { timeout: 50_000 }).toBe(0);
  const pushes = bodiesSentTo('push', fetching);
  fetching.mockRestore();
  const counts = pushes.map((body) => JSON.parse(body).mutations.length);
  expect(Math.max(...counts)).toBe(500);
  expect(Math.max(...pushes.map((body) => body.length))).toBeLessThanOrEqual(512 * 1024);
  for (const id of large) expect(pushes.filter((body) => body.includes(id))).toHaveLength(1);
  const { rows } = await application.server.pool.query('select count(*)::int as count from list');
  expect(rows).toEqual([{ count: small }]);
}, 60_000);
