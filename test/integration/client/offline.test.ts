import { expect, it } from 'vitest';
import { useApplication } from './application.js';

const application = useApplication();
const lists = async () =>
  (await application.server.pool.query('select id from list order by id')).rows.map(({ id }) => id);

it('an offline client sends nothing, keeps working, and catches up when it is online again', async () => {
  const [ann, other] = [application.client(), application.client()];
  for (const { status } of [ann, other]) await expect.poll(() => status.get().state).toBe('online');
  ann.setOnline(false);
  expect(ann.status.get().state).toBe('offline');
  await ann.mutate.list.create({ id: 'mine', name: 'Mine' });
  await other.mutate.list.create({ id: 'other', name: 'Other' });
  await expect.poll(() => other.pending.get()).toEqual([]);
  expect(await lists()).toEqual(['other']);
  expect(await ann.view('list').list()).toHaveLength(1);
  expect(ann.pending.get()).toHaveLength(1);

  ann.setOnline(true);
  await expect.poll(() => ann.view('list').list()).toHaveLength(2);
  await expect.poll(() => ann.pending.get()).toEqual([]);
  await expect
    .poll(() => ann.status.get())
    .toEqual({ state: 'online', error: null, outdated: false, storage: 'memory', storageError: null, progress: null });
  expect(await lists()).toEqual(['mine', 'other']);
  await expect.poll(() => other.view('list').list()).toHaveLength(2);
});

it('a client that is closed while it is offline stays closed when it is set online', async () => {
  const ann = application.client();
  ann.setOnline(false);
  await ann.mutate.list.create({ id: 'mine', name: 'Mine' });
  await ann.close();
  ann.setOnline(true);
  expect(ann.status.get().state).toBe('closed');
  expect(await lists()).toEqual([]);
});
