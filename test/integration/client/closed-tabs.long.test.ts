/** After a tab is closed, another tab of the user sends its unsent mutations. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { useApplication } from './application.js';

const application = useApplication();
const lists = async () => (await application.server.pool.query('select id from list')).rows.map(({ id }) => id);

it.each<[what: string, isOnline: boolean]>([
  ['is online', true],
  ['comes back online', false],
])('a tab that %s sends the calls of a closed tab', async (_, isOnline) => {
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
