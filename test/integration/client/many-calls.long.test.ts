import { expect, it } from 'vitest';
import { useApplication } from './application.js';

/** A longer run: `CALLS=10001 npx vitest run test/integration/client/many-calls.long.test.ts`. */
const calls = Number(process.env.CALLS ?? 2_001);

const application = useApplication({ limits: { mutations: calls - 1 } });

it('more calls made offline than one push may contain arrive in order', async () => {
  const ann = application.client();
  await expect.poll(() => ann.status.get().state).toBe('online');
  ann.setOnline(false);
  await ann.mutate.list.create({ id: 'a', name: 'A' });
  await ann.mutate.todo.create({ id: 'counted', listID: 'a', title: '0', sort: 1 });
  for (let i = 1; i <= calls; i++) await ann.mutate.todo.update({ id: 'counted', title: `${i}` });
  ann.setOnline(true);
  await expect.poll(() => ann.pending.get().length, { timeout: 900_000 }).toBe(0);
  expect(ann.status.get()).toMatchObject({ state: 'online', error: null });
  const { rows } = await application.server.pool.query("select title from todo where id = 'counted'");
  expect(rows).toEqual([{ title: `${calls}` }]);
  await expect.poll(() => ann.view('todo').get('counted')).toMatchObject({ title: `${calls}` });
}, 960_000);
