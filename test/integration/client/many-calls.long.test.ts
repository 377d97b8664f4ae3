import { expect, it } from 'vitest';
import { useApplication } from './application.js';

const application = useApplication();

it('10,001 calls made offline arrive in order', async () => {
  const ann = application.client();
  await expect.poll(() => ann.status.get().state).toBe('online');
  ann.setOnline(false);
  await ann.mutate.list.create({ id: 'a', name: 'A' });
  await ann.mutate.todo.create({ id: 'counted', listID: 'a', title: '0', sort: 1 });
  for (let i = 1; i <= 10_001; i++) await ann.mutate.todo.update({ id: 'counted', title: `${i}` });
  ann.setOnline(true);
  await expect.poll(() => ann.pending.get().length, { timeout: 900_000 }).toBe(0);
  expect(ann.status.get()).toMatchObject({ state: 'online', error: null });
  const { rows } = await application.server.pool.query("select title from todo where id = 'counted'");
  expect(rows).toEqual([{ title: '10001' }]);
  await expect.poll(() => ann.view('todo').get('counted')).toMatchObject({ title: '10001' });
}, 960_000);
