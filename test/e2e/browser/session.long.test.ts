/** Tests refusals, a sign-out and a newer version of the page during a user's session. */
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { App } from './app.js';
import { it, useDemo } from './fixture.js';
import type { AppPage } from './profile.js';

declare global {
  interface Window {
    /** Lets a held deletion happen, or fail. */
    release?: (fails: boolean) => void;
  }
}

const { profile, sql } = useDemo();

const pending = ({ sync }: App) => sync.getAttribute('data-pending');
const state = ({ sync }: App) => sync.getAttribute('data-state');

it('a refused change disappears, and its author sees what it was and why it was refused', async () => {
  const { app } = await profile();
  const [ben, elsewhere] = [await app('ben'), await (await profile()).app('ben')];
  const ann = await (await profile()).app('ann');
  for (const { list } of [ann, ben]) await list('Home').click();
  await ben.todo('Measure the shelf').waitFor();
  await expect.poll(() => state(ben)).toBe('online');

  await ben.offline.click();
  await ann.button('Stop sharing with ben').click();
  await ben.todo('Measure the shelf').click();
  await ben.done('Measure the shelf').waitFor();
  await elsewhere.list('Home').waitFor({ state: 'detached' });
  await ben.offline.click();
  await ben.list('Home').waitFor({ state: 'detached' });
  const refused = 'Could not change the todo: There is no such todo, or its list is not shared with you.';
  await expect.poll(() => ben.notices.textContent()).toBe(refused);
  await expect.poll(() => pending(ben)).toBe('0');
  expect(await sql("select from todo where title = 'Measure the shelf' and done")).toEqual([]);
  for (const other of [ann, elsewhere]) expect(await other.notices.textContent()).toBe('');

  await ben.button('Dismiss').click();
  expect(await ben.notices.textContent()).toBe('');
});

it('another account shows only its own lists', async () => {
  const app = await (await profile()).app('ann');
  const { page, list, lists } = app;
  await list('Work').waitFor();
  for (const [account, own, another] of [
    ['ben', 'Music', 'Work'],
    ['cam', 'Books', 'Music'],
    ['ann', 'Work', 'Books'],
  ] as const) {
    await page.getByRole('radiogroup', { name: 'Account' }).getByText(account).click();
    await list(own).waitFor();
    expect(await lists.textContent()).not.toContain(another);
    await expect.poll(() => state(app)).toBe('online');
  }
});

it("a sign-out warns of unsent changes, signs out all tabs of the user, and deletes the user's data", async () => {
  const { app } = await profile();
  const tabs = [await app('ann'), await app('ann')];
  const [first, second] = tabs as [AppPage, AppPage];
  const ben = await app('ben');
  await ben.list('Garden').waitFor();
  for (const { list, todo } of tabs) {
    await list('Work').click();
    await todo('Review the offer').waitFor();
  }
  await first.page.bringToFront();
  await first.offline.click();
  await first.todo('Discuss the offer').click();
  await expect.poll(() => pending(first)).toBe('1');
  await first.button('Sign out').click();
  await first.button('Stay').click();
  await first.done('Discuss the offer').waitFor();
  const databases = () =>
    ben.page.evaluate(async () =>
      (await indexedDB.databases()).map(({ name }) => name!).filter((name) => / (ann|ben)/.test(name)),
    );
  expect((await databases()).filter((name) => name.includes(' ann'))).toHaveLength(1);

  await first.offline.click();
  await expect.poll(() => pending(first)).toBe('0');
  await first.button('Sign out').click();
  const signIn = first.button('Sign in as ann');
  // The button is enabled as soon as everything is deleted.
  await expect.poll(() => signIn.isEnabled()).toBe(true);
  expect((await databases()).filter((name) => !name.includes(' ben'))).toEqual([]);
  for (const { sync, lists } of tabs) {
    await expect.poll(() => sync.textContent()).toMatch(/^Signed out/);
    expect(await lists.count()).toBe(0);
  }
  await first.page.getByText('nothing of yours is left in this browser').waitFor();
  // The other tab does not know the progress of the deletion.
  expect(await second.page.getByText('nothing of yours is left').count()).toBe(0);
  await second.button('Sign in as ann').waitFor();
  await signIn.click();
  await first.list('Work').click();
  await first.done('Discuss the offer').waitFor();
  await expect.poll(() => state(ben)).toBe('online');
});

/** Holds each deletion of a database until `window.release` is called, which performs it or makes it fail. */
const holdDeletions = (page: Page) =>
  page.addInitScript(() => {
    const remove = IDBFactory.prototype.deleteDatabase;
    IDBFactory.prototype.deleteDatabase = function (this: IDBFactory, name: string) {
      const error = new DOMException('The disk is broken', 'UnknownError');
      const request = Object.assign(new EventTarget(), { error, onsuccess: () => {}, onerror: () => {} });
      window.release = (fails) => {
        if (fails) request.onerror();
        else remove.call(this, name).onsuccess = () => request.onsuccess();
      };
      return request as unknown as IDBOpenDBRequest;
    };
  });

it('a sign-out shows that it is deleting data, that it has failed, and that nothing is left', async () => {
  const { app } = await profile();
  const { page, button, list, ...ann } = await app('ann', holdDeletions);
  await list('Work').waitFor();
  await expect.poll(() => ann.sync.getAttribute('data-state')).toBe('online');
  const isHeld = () => page.evaluate(() => window.release !== undefined);
  const release = (fails: boolean) =>
    page.evaluate((how) => {
      const { release } = window;
      delete window.release;
      release?.(how);
    }, fails);

  await button('Sign out').click();
  await expect.poll(isHeld).toBe(true);
  const text = page.getByText(/nothing of yours is left/);
  await page
    .getByRole('status')
    .getByText(/being deleted/)
    .waitFor();
  expect([await text.count(), await button('Sign in as ann').isEnabled()]).toEqual([0, false]);

  await release(true);
  expect(await page.getByRole('alert').textContent()).toMatch(/could not be deleted/);
  expect(await text.count()).toBe(0);

  await button('Try again').click();
  await expect.poll(isHeld).toBe(true);
  await release(false);
  await text.waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});

/** Serves a newer version of the page, which stores its data in another format. */
async function deployNext(context: BrowserContext): Promise<void> {
  await context.route('**/assets/*.js', async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const next = text.replace('auth:`Bearer', 'schemaVersion:`next`,auth:`Bearer');
    expect(next).not.toBe(text);
    await route.fulfill({ response, body: next });
  });
}

it('a newer version of the page sends unsent changes of the old one, which offers to reload', async () => {
  const { app, context } = await profile();
  const tabs = [await app('ann'), await app('ann')];
  for (const { list, todo } of tabs) {
    await list('Work').click();
    await todo('Shorten the offer').waitFor();
  }
  const [old, observer] = tabs as [AppPage, AppPage];
  for (const { page, offline } of [observer, old]) {
    await page.bringToFront();
    await offline.click();
  }
  await old.todo('Shorten the offer').click();
  // The other client receives it from the database.
  await observer.done('Shorten the offer').waitFor();
  await old.page.close();
  expect(await sql("select from todo where title = 'Shorten the offer' and done")).toEqual([]);

  await deployNext(context);
  const next = await app('ann');
  await next.list('Work').click();
  await next.done('Shorten the offer').waitFor();
  await expect.poll(() => sql("select from todo where title = 'Shorten the offer' and done")).toHaveLength(1);
  expect(await next.notices.textContent()).toBe('');

  await expect.poll(() => observer.notices.textContent()).toMatch(/newer version/);
  await observer.page.bringToFront();
  await observer.button('Reload').click();
  await observer.list('Work').waitFor();
  await expect.poll(() => state(observer)).toBe('online');
  expect(await observer.notices.textContent()).toBe('');
});
