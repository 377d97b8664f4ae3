import { beforeEach, describe, expect } from 'vitest';
import { useClientPages } from './client-page.js';
import { it } from './fixture.js';

const pages = useClientPages();
const onServer = async () =>
  (await pages.pool.query('select name from list order by id')).rows.map(({ name }: { name: string }) => name);

beforeEach(async () => {
  await pages.pool?.query('delete from list; delete from tidemark.refusal');
});

describe('a change made offline', () => {
  it('is shown immediately, and sent when the network is back', async () => {
    const profile = await pages.profile();
    const ann = await profile.tab('ann');
    await expect.poll(ann.status).toBe('online 0');
    await profile.setOffline(true);
    // A pull may have been under way.
    await expect.poll(ann.status).toMatch(/^offline.* 0$/);
    await ann.create('a', 'Groceries');
    expect(await ann.lists()).toEqual(['Groceries']);
    await expect.poll(ann.status).toMatch(/^offline.* 1$/);
    await pages.pool.query("insert into list (id, owner_id, name) values ('b', 'ann', 'Garden')");

    await profile.setOffline(false);
    await expect.poll(ann.lists).toEqual(['Groceries', 'Garden']);
    await expect.poll(ann.status).toBe('online 0');
    expect(await onServer()).toEqual(['Groceries', 'Garden']);
  });

  it('survives its tab, and the next tab shows and sends it', async () => {
    const profile = await pages.profile();
    const ann = await profile.tab('ann');
    await expect.poll(ann.status).toBe('online 0');
    profile.setSyncing(false);
    await ann.create('a', 'Groceries');
    // The tab is closed as soon as another one finds it.
    await expect
      .poll(async () => {
        const next = await profile.tab('ann');
        await next.page.waitForFunction(() => window.client.query(async () => true));
        const lists = await next.page.evaluate(() => window.client.view('list').list());
        await next.page.close();
        return lists.length;
      })
      .toBe(1);
    await ann.page.close();
    expect(await onServer()).toEqual([]);
    profile.setSyncing(true);
    const next = await profile.tab('ann');
    await expect.poll(next.lists).toEqual(['Groceries']);
    await expect.poll(onServer).toEqual(['Groceries']);
    await expect.poll(next.status).toBe('online 0');
  });

  it.each([
    ['the browser has a network again', 'online'],
    ['the page becomes visible', 'visibilitychange'],
  ])('is sent immediately when %s, although the next attempt is seconds away', async (_, event) => {
    const profile = await pages.profile();
    // Without pokes, nothing else shows that the server is back.
    const ann = await profile.tab('ann', '', (page) => page.route('**/sync/poke?*', () => {}));
    await expect.poll(ann.status).toBe('online 0');
    profile.setSyncing(false);
    await ann.create('a', 'Groceries');
    // The wait doubles after each attempt, and is almost eight seconds after the ninth. An attempt that has not failed
    // yet would still get through.
    const failedPushes = () => profile.watch.requestsTo('/sync/push').filter((request) => request.failure());
    await expect.poll(failedPushes).toHaveLength(9);
    profile.setSyncing(true);
    await ann.page.waitForTimeout(2_000);
    expect(await onServer()).toEqual([]);

    await ann.page.evaluate((name) => (name === 'online' ? window : document).dispatchEvent(new Event(name)), event);
    // Allows for a slow machine. The next attempt is almost two seconds later still.
    await expect.poll(onServer, { timeout: 4_000 }).toEqual(['Groceries']);
  });
});

it("a page reloads if the server has lost its record, and shows the server's data", async () => {
  const profile = await pages.profile();
  profile.watch.allow(/Client state not found on server|The record of this client is lost/);
  const { page, lists, status, create } = await profile.tab('ann');
  await create('a', 'Groceries');
  await expect.poll(status).toBe('online 0');
  profile.setSyncing(false);
  await create('b', 'Lost');
  await pages.pool.query(`
    delete from tidemark.client; delete from tidemark.client_group;
    insert into list (id, owner_id, name) values ('c', 'ann', 'Garden')`);
  expect(await lists()).toEqual(['Groceries', 'Lost']);

  const loaded = page.waitForEvent('load');
  profile.setSyncing(true);
  await loaded;
  await expect.poll(lists).toEqual(['Groceries', 'Garden']);
  await expect.poll(status).toBe('online 0');
  expect(await onServer()).toEqual(['Groceries', 'Garden']);
});

it('three tabs share one stream of pokes, and show changes from each tab and from SQL', async () => {
  const profile = await pages.profile();
  const first = await profile.tab('ann');
  await expect.poll(() => profile.watch.requestsTo('/sync/poke').length).toBe(1);
  const tabs = [first, await profile.tab('ann'), await profile.tab('ann')];
  for (const { status } of tabs) await expect.poll(status).toBe('online 0');
  for (const [i, { create }] of tabs.entries()) await create(`${i}`, `List ${i}`);
  for (const { lists } of tabs) await expect.poll(lists).toEqual(['List 0', 'List 1', 'List 2']);
  await pages.pool.query("update list set name = 'Changed' where id = '1'");
  for (const { lists } of tabs) await expect.poll(lists).toEqual(['List 0', 'Changed', 'List 2']);
  expect(profile.watch.requestsTo('/sync/poke')).toHaveLength(1);

  await first.page.close();
  const [, second, third] = tabs;
  await pages.pool.query("update list set name = 'Again' where id = '1'");
  for (const { lists } of [second!, third!]) await expect.poll(lists).toEqual(['List 0', 'Again', 'List 2']);
  for (const { status } of [second!, third!]) await expect.poll(status).toBe('online 0');
});

it("a sign-out in one tab closes all tabs of the user, and deletes only that user's data", async () => {
  const profile = await pages.profile();
  const tabs = [await profile.tab('ann'), await profile.tab('ann'), await profile.tab('ann', '1')];
  const ben = await profile.tab('ben');
  await tabs[0]!.create('a', 'Groceries');
  for (const { lists } of tabs) await expect.poll(lists).toEqual(['Groceries']);
  await ben.create('b', 'Garden');
  await expect.poll(ben.status).toBe('online 0');
  const databases = () =>
    ben.page.evaluate(async () =>
      (await indexedDB.databases()).map(({ name }) => name!).filter((name) => / (ann|ben)/.test(name)),
    );
  expect((await databases()).filter((name) => name.includes(' ann'))).toHaveLength(2);

  profile.setSyncing(false);
  await tabs[0]!.create('c', 'Unsent');
  await tabs[0]!.page.evaluate(() => window.client.signOut());
  const left = await databases();
  expect(left).toHaveLength(1);
  expect(left[0]).toContain(' ben');
  expect(await tabs[0]!.status()).toMatch(/^closed/);
  for (const { status } of tabs.slice(1)) expect(await status()).toMatch(/^closed signed-out/);
  for (const { page } of tabs) await page.close();

  profile.setSyncing(true);
  const again = await profile.tab('ann');
  await expect.poll(again.lists).toEqual(['Groceries']);
  await expect.poll(again.status).toBe('online 0');
  expect(await onServer()).toEqual(['Groceries', 'Garden']);
  await expect.poll(ben.lists).toEqual(['Garden']);
});

it('a refused mutation disappears, and the tab that made it shows the reason', async () => {
  const profile = await pages.profile();
  const [ann, other] = [await profile.tab('ann'), await profile.tab('ann')];
  await ann.create('a', 'Groceries');
  await expect.poll(ann.status).toBe('online 0');
  for (const { lists } of [ann, other]) await expect.poll(lists).toEqual(['Groceries']);
  await ann.create('a', 'Of an ID that is taken');
  await expect.poll(() => ann.page.getByRole('alert').textContent()).toBe('A list with this ID already exists');
  await expect.poll(ann.lists).toEqual(['Groceries']);
  await expect.poll(() => other.page.evaluate(() => window.client.refused.get().length)).toBe(1);
  expect(await other.page.getByRole('alert').textContent()).toBe('');
});

it('a new schema version sends the unsent mutations of the old one, which learns that it is outdated', async () => {
  const profile = await pages.profile();
  const old = await profile.tab('ann', '1');
  const observer = await profile.tab('ann', '1');
  await expect.poll(old.status).toBe('online 0');
  profile.setSyncing(false);
  await old.create('a', 'Groceries');
  // The other client receives it from the database.
  await expect.poll(observer.lists).toEqual(['Groceries']);
  await old.page.close();
  expect(await onServer()).toEqual([]);
  await observer.page.close();

  profile.setSyncing(true);
  const next = await profile.tab('ann', '2');
  await expect.poll(next.lists).toEqual(['Groceries']);
  await expect.poll(next.status).toBe('online 0');
  expect(await onServer()).toEqual(['Groceries']);

  const later = await profile.tab('ann', '3');
  await expect.poll(later.status).toBe('online 0');
  await expect.poll(next.status).toBe('online outdated 0');
});
