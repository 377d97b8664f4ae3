import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type TasksClient, useApplication } from './application.js';

const application = useApplication();

it('a sign-out closes all tabs of the user, and leaves nothing of theirs here, not even what was pending', async () => {
  const user = randomUUID();
  const [one, two, old] = [
    application.client({ user }),
    application.client({ user }),
    application.client({ user, schemaVersion: '1' }),
  ];
  const stranger = randomUUID();
  const other = application.client({ user: stranger });
  await one.mutate.list.create({ id: 'a', name: 'Sent' });
  for (const { view } of [one, two, old, other]) await expect.poll(() => view('list').list()).toHaveLength(1);
  for (const client of [one, two, old]) client.setOnline(false);
  await one.mutate.list.create({ id: 'b', name: 'Unsent' });

  const lists = (tab: TasksClient) => tab.view('list').list();
  await expect.poll(() => application.stored({ user }, lists)).toHaveLength(2);
  await expect.poll(() => application.stored({ user, schemaVersion: '1' }, lists)).toHaveLength(1);
  await expect.poll(() => application.stored({ user: stranger }, lists)).toHaveLength(1);

  await one.signOut();
  expect(one.status.get()).toMatchObject({ state: 'closed', error: null });
  for (const { status } of [two, old]) {
    await expect.poll(() => status.get()).toMatchObject({ state: 'closed', error: { code: 'signed-out' } });
  }
  expect(other.status.get().state).toBe('online');
  expect(await other.view('list').list()).toHaveLength(1);

  for (const schemaVersion of ['', '1']) {
    expect(await application.stored({ user, schemaVersion }, lists)).toEqual([]);
  }
  expect(await application.stored({ user: stranger }, lists)).toHaveLength(1);
  const back = application.client({ user });
  await expect.poll(() => back.view('list').list()).toHaveLength(1);
  expect(await back.view('list').get('b')).toBeUndefined();
});
