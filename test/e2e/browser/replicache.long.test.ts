/** Tests the unmodified Replicache client from npm in Chromium. */
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { useClientPages } from './client-page.js';
import { it } from './fixture.js';

const pages = useClientPages({
  html: `<!doctype html><title>Replicache</title><link rel="icon" href="data:,"><ul></ul><output></output>
    <script type="module" src="/client.js"></script>`,
  input: fileURLToPath(new URL('replicache-page.ts', import.meta.url)),
});

const onServer = async () =>
  (await pages.pool.query('select name from list order by id')).rows.map(({ name }: { name: string }) => name);

it('Replicache pushes, is poked, pulls, rolls back refused mutations, and works offline after a reload', async () => {
  const profile = await pages.profile();
  const ann = await profile.tab('ann');
  const observer = await profile.tab('ann');
  const elsewhere = await (await pages.profile()).tab('ann');
  const create = (id: string, name: string) => ann.page.evaluate((list) => window.createList(list), { id, name });
  for (const { status } of [ann, elsewhere]) await expect.poll(status).toBe('online 0');

  await create('a', 'Groceries');
  await expect.poll(onServer).toEqual(['Groceries']);
  // Without a poke, the next pull is a minute away.
  for (const { lists } of [ann, elsewhere]) await expect.poll(lists).toEqual(['Groceries']);
  await pages.pool.query("insert into list (id, owner_id, name) values ('b', 'ann', 'Garden')");
  for (const { lists } of [ann, elsewhere]) await expect.poll(lists).toEqual(['Groceries', 'Garden']);
  await create('a', 'Of an ID that is taken');
  await expect.poll(ann.status).toBe('online 0');
  await expect.poll(ann.lists).toEqual(['Groceries', 'Garden']);

  profile.setSyncing(false);
  await create('c', 'Offline');
  await expect.poll(ann.status).toBe('offline 1');
  // The other client receives it from the database.
  await expect.poll(observer.lists).toEqual(['Groceries', 'Garden', 'Offline']);
  await observer.page.close();
  await ann.page.reload();
  await expect.poll(ann.lists).toEqual(['Groceries', 'Garden', 'Offline']);
  expect(await onServer()).toEqual(['Groceries', 'Garden']);
  profile.setSyncing(true);
  await expect.poll(onServer).toEqual(['Groceries', 'Garden', 'Offline']);
  await expect.poll(elsewhere.lists).toEqual(['Groceries', 'Garden', 'Offline']);
});
