/** What a tab has not sent when it is closed, another tab of the user sends. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { useApplication } from './application.js';

const application = useApplication();
const lists = async () => (await application.server.pool.query('select id from list')).rows.map(({ id }) => id);

it.each<[others: string, isOnline: boolean]>([
  ['is online', true],
  ['comes back', false],
])('a tab that %s sends it', async (_, isOnline) => {
  const user = randomUUID();
  const [one, two] = [application.client({ user }), application.client({ user })];
  for (const { status } of [one, two]) await expect.poll(() => status.get().state).toBe('online');
  one.setOnline(false);
  if (!isOnline) two.setOnline(false);
  await one.mutate.list.create({ id: 'left', name: 'Left' });
  await one.close();
  if (!isOnline) {
    await expect.poll(() => two.pending.get(), { timeout: 5000 }).toHaveLength(1);
    two.setOnline(true);
  }
  await expect.poll(lists, { timeout: 5000 }).toEqual(['left']);
  await expect.poll(() => two.pending.get()).toEqual([]);
  await expect.poll(() => two.view('list').list()).toHaveLength(1);
});
