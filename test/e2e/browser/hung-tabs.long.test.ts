/** Tests a sign-out beside a tab that does not respond. */
import type { Page } from 'playwright-core';
import { beforeEach, expect } from 'vitest';
import { useClientPages } from './client-page.js';
import { it } from './fixture.js';

const pages = useClientPages();

beforeEach(async () => {
  await pages.pool?.query('delete from list; delete from tidemark.refusal');
});

/** Hangs a page, and returns a function that lets it continue. */
type Hang = (page: Page) => Promise<() => Promise<unknown>>;

const inDialog: Hang = async (page) => {
  const opened = new Promise<() => Promise<void>>((resolve) =>
    page.on('dialog', (dialog) => resolve(() => dialog.accept())),
  );
  await page.evaluate(() => void setTimeout(() => confirm('Really?'), 0));
  return opened;
};

const loopMs = 30_000;
const inLoop: Hang = async (page) => {
  await page.evaluate((ms) => {
    setTimeout(() => {
      for (const end = Date.now() + ms; Date.now() < end; );
    }, 0);
  }, loopMs);
  return () => page.evaluate(() => {});
};

/** In an IndexedDB transaction, which stays open. */
const inTransaction: Hang = async (page) => {
  const opened = new Promise<() => Promise<void>>((resolve) =>
    page.on('dialog', (dialog) => resolve(() => dialog.accept())),
  );
  await page.evaluate(() => {
    const { get } = IDBObjectStore.prototype;
    let hung = false;
    IDBObjectStore.prototype.get = function (key) {
      const request = get.call(this, key);
      const ask = () => {
        if (hung || this.transaction.mode !== 'readwrite') return;
        hung = true;
        get.call(this, key);
        confirm('Really?');
      };
      request.addEventListener('success', ask);
      return request;
    };
    void window.client.mutate.list.create({ id: 'hung', name: 'Hung' });
  });
  return opened;
};

it.each([
  ['in a dialog', inDialog, 'saved'],
  ['in a loop', inLoop, 'saved'],
  ['in a transaction', inTransaction, 'memory'],
] as const)(
  'a sign-out beside a tab that hangs %s leaves no visible data, and the user can sign in again',
  async (_, hang, storage) => {
    const profile = await pages.profile();
    profile.watch.allow(/net::ERR_ABORTED/);
    const [here, hung] = [await profile.tab('ann'), await profile.tab('ann')];
    await here.create('a', 'Mine');
    for (const { lists, status } of [here, hung]) {
      await expect.poll(lists).toEqual(['Mine']);
      await expect.poll(status).toBe('online 0');
    }
    await here.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 3_000)));
    const resume = await hang(hung.page);

    const started = Date.now();
    const left = await here.page.evaluate(() =>
      window.client.signOut().then(
        () => null,
        ({ code }) => code,
      ),
    );
    expect(left).toBe(storage === 'saved' ? null : 'data-not-deleted');
    expect(Date.now() - started).toBeLessThan(left === null ? 9_000 : 15_000);
    expect(await here.lists()).toEqual([]);

    profile.setSyncing(false);
    const back = await profile.tab('ann');
    await expect.poll(back.status, { timeout: 15_000 }).toContain('offline');
    expect(await back.lists()).toEqual([]);
    profile.setSyncing(true);
    await back.page.reload();
    await expect.poll(back.lists, { timeout: 20_000 }).toContain('Mine');
    await expect
      .poll(() => back.page.evaluate(() => window.client.status.get().storage), { timeout: 10_000 })
      .toBe(storage);

    await resume();
    await expect.poll(hung.status, { timeout: loopMs + 10_000 }).toContain('closed signed-out');
    expect(await hung.lists()).toEqual([]);
    await hung.page.close();
    // Data that the hung tab tried to write later does not exist.
    profile.setSyncing(false);
    await back.page.reload();
    await expect.poll(back.lists, { timeout: 20_000 }).toEqual(storage === 'saved' ? ['Mine'] : []);
    expect(await back.page.evaluate(() => window.client.status.get().storage)).toBe('saved');
  },
);
