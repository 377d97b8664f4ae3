/** Tests IndexedDB when it is full, denied, broken or hanging, as in real browsers. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect } from 'vitest';
import { useClientPages } from './client-page.js';
import { it } from './fixture.js';

const pages = useClientPages();
const onServer = async () =>
  (await pages.pool.query('select name from list order by id')).rows.map(({ name }: { name: string }) => name);
const storage = (page: Page) =>
  page.evaluate(() => {
    const { storage, storageError } = window.client.status.get();
    return storageError ? `${storage} ${storageError.code}` : storage;
  });

beforeEach(async () => {
  await pages.pool?.query('delete from list; delete from tidemark.refusal');
});

it('a full disk shows in the status, and all data is saved once there is space', async () => {
  const profile = await pages.profile();
  const { page, status, lists } = await profile.tab('ann');
  await expect.poll(status).toBe('online 0');
  await expect.poll(() => storage(page)).toBe('saved');
  profile.setSyncing(false);
  profile.watch.allow(/Error during persist|QuotaExceeded|Error running/);
  const session = await page.context().newCDPSession(page);
  const origin = new URL(page.url()).origin;
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
  // Chromium caches the free space for half a minute.
  await page.waitForTimeout(31_000);
  const saved = await page.evaluate(async () => {
    const states = [];
    for (let i = 0; i < 200; i++) {
      await window.client.mutate.list.create({ id: `${1000 + i}`, name: `${i}` });
      states.push(window.client.status.get().storage);
    }
    return states.filter((state) => state === 'saved').length;
  });
  expect(saved).toBe(0);
  await expect.poll(() => storage(page), { timeout: 10_000 }).toBe('failing storage-full');
  await session.send('Storage.overrideQuotaForOrigin', { origin });
  await page.evaluate(() => window.client.mutate.list.create({ id: '2000', name: 'With room' }));
  await expect.poll(() => storage(page), { timeout: 40_000 }).toBe('saved');
  await page.reload();
  await expect.poll(lists).toHaveLength(201);
  await expect.poll(status).toMatch(/ 201$/);
  profile.setSyncing(true);
  await expect.poll(status, { timeout: 20_000 }).toBe('online 0');
  expect(await onServer()).toHaveLength(201);
});

/** Replacements for `indexedDB.open`, which run in the page. */
const failures: Record<string, () => void> = {
  'throws a SecurityError': () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('Denied', 'SecurityError');
    };
  },
  'ends with an error': () => {
    const open = IDBFactory.prototype.open;
    // A database of a later version cannot be opened.
    IDBFactory.prototype.open = function (name) {
      open.call(this, name, 9).onsuccess = () => {};
      return open.call(this, name, 8);
    };
  },
  'never answers': () => {
    IDBFactory.prototype.open = () => ({}) as IDBOpenDBRequest;
  },
};

describe.each(Object.keys(failures))('an IndexedDB that %s', (how) => {
  it('is replaced by memory, and the status says so', async () => {
    const profile = await pages.profile();
    const { page, status, create } = await profile.tab('ann', '', (page) => page.addInitScript(failures[how]!));
    const called = Date.now();
    await create('a', 'In memory');
    const [minMs, maxMs] = how === 'never answers' ? [7_000, 10_000] : [0, 2_000];
    expect(Date.now() - called).toBeGreaterThanOrEqual(minMs);
    expect(Date.now() - called).toBeLessThan(maxMs);
    expect(await storage(page)).toBe('memory storage-unavailable');
    await expect.poll(status, { timeout: 15_000 }).toBe('online 0');
    await expect.poll(onServer).toEqual(['In memory']);
    await page.evaluate(() => window.client.close());
    await expect.poll(status).toMatch(/^closed/);
  });
});

it('the status reports a database deleted while the page is open, and mutations are still sent', async () => {
  const profile = await pages.profile();
  profile.watch.allow(/Error during (persist|refresh).* was deleted/);
  const { page, lists, status, create } = await profile.tab('ann');
  await expect.poll(status).toBe('online 0');
  await expect.poll(() => storage(page)).toBe('saved');
  await page.evaluate(async () => {
    const { name } = (await indexedDB.databases()).find(({ name }) => name!.includes(' ann'))!;
    await new Promise((resolve) => {
      indexedDB.deleteDatabase(name!).onsuccess = resolve;
    });
  });
  await create('a', 'In memory');
  await expect.poll(() => storage(page)).toBe('failing storage-lost');
  await expect.poll(status).toBe('online 0');
  expect(await onServer()).toEqual(['In memory']);

  await page.reload();
  await expect.poll(lists).toEqual(['In memory']);
  await expect.poll(() => storage(page)).toBe('saved');
});

it('an unreadable database causes no unhandled rejection when the page is shown again', async () => {
  const profile = await pages.profile();
  const { page, status } = await profile.tab('ann');
  await expect.poll(status).toBe('online 0');
  await expect.poll(() => storage(page)).toBe('saved');
  // A page error would count as a problem of the profile. If the client saves at this moment, it logs that it failed.
  profile.watch.allow(/Error during persist/);
  await page.evaluate(async () => {
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = () => {
      throw new DOMException('Denied', 'UnknownError');
    };
    document.dispatchEvent(new Event('visibilitychange'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    IDBDatabase.prototype.transaction = transaction;
  });
  await expect.poll(status).toBe('online 0');
});

it('a page that reloads after its first pull is saved pulls only what has changed', async () => {
  await pages.pool.query(`
    insert into list select n, 'ann', 'List ' || n from generate_series(1, 100) n;
    insert into todo (id, list_id, title, done, sort) select n, 1 + n % 100, 'Todo ' || n, false, n from generate_series(1, 20000) n`);
  const profile = await pages.profile();
  const { page, lists, status } = await profile.tab('ann');
  await expect.poll(lists, { timeout: 20_000 }).toHaveLength(100);
  expect(await storage(page)).toMatch(/^sav/);
  await expect.poll(() => storage(page), { timeout: 20_000 }).toBe('saved');
  const before = profile.watch.requestsTo('/sync/pull').length;
  await page.reload();
  await expect.poll(lists).toHaveLength(100);
  await expect.poll(status).toBe('online 0');
  const cookies = profile.watch
    .requestsTo('/sync/pull')
    .slice(before)
    .map((request) => request.postDataJSON().cookie);
  expect(cookies.length).toBeGreaterThan(0);
  expect(cookies).not.toContain(null);
});

it('the client requests persistent storage only if the application sets the option', async () => {
  const profile = await pages.profile();
  const { page } = await profile.tab('ann', '', (page) =>
    page.addInitScript(() => {
      const { persist } = StorageManager.prototype;
      StorageManager.prototype.persist = function () {
        document.title = 'asked';
        return persist.call(this);
      };
    }),
  );
  expect(await page.title()).toBe('Lists');
  // As text, because Vitest rewrites imports.
  await page.evaluate(`import('/client.js').then(({ createClient }) =>
    createClient({ user: 'another', auth: 'Bearer ann', persistentStorage: true }).close())`);
  expect(await page.title()).toBe('asked');
});
