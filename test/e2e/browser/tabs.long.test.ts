import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { it, useDemo } from './fixture.js';

const { profile, sql } = useDemo();

const isPull = (request: Request) => request.url().endsWith('/sync/pull');

/** The cookie of a tab's first pull. */
async function firstCookie(page: Page): Promise<unknown> {
  const request = await page.waitForRequest(isPull);
  return (request.postDataJSON() as { cookie: unknown }).cookie;
}

it('a second tab shows the data that the first one has saved, before any response', async () => {
  const { app } = await profile();
  const first = await app('ann');
  await first.list('Home').click();
  await first.todo('Clean the shelf').waitFor();

  await expect
    .poll(async () => {
      let cookie: Promise<unknown> | undefined;
      const { page } = await app('ann', async (tab) => {
        cookie = firstCookie(tab);
      });
      const found = await cookie;
      await page.close();
      return found;
    })
    .toMatchObject({ order: expect.any(Number) });

  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let isAnswered = false;
  const second = await app('ann', async (tab) => {
    tab.on('response', (response) => {
      isAnswered ||= isPull(response.request());
    });
    await tab.route('**/sync/pull', async (route) => {
      await answered;
      await route.continue();
    });
  });
  await second.list('Home').click();
  await second.todo('Clean the shelf').waitFor();
  expect(isAnswered).toBe(false);
  expect(await second.sync.getAttribute('data-state')).toBe('connecting');
  answer();
  await expect.poll(() => isAnswered).toBe(true);
});

it('the tabs of a profile share a stream of pokes, and a second tab reopens it when the first one closes', async () => {
  const { app, watch } = await profile();
  const first = await app('ann');
  // The number of streams that have been opened. A tab opens another one when it wants another list.
  const streams = () => watch.requestsTo('/sync/poke').length;
  const settled = async () => {
    const before = streams();
    await first.page.waitForTimeout(1_000);
    return before > 0 && streams() === before;
  };
  // Ensures that this tab has the stream.
  await first.todo('Clean the shelf').waitFor();
  await expect.poll(settled).toBe(true);
  const opened = streams();
  const second = await app('ann');
  const tabs = [first, second];
  for (const { list } of tabs) await list('Home').click();
  for (const { todo } of tabs) await todo('Paint the shelf').waitFor();
  await sql("update todo set title = 'Oil the shelf' where title = 'Paint the shelf'");
  for (const { todo } of tabs) await todo('Oil the shelf').waitFor();
  expect(streams()).toBe(opened);

  await first.page.close();
  await sql("update todo set title = 'Wax the shelf' where title = 'Oil the shelf'");
  await second.todo('Wax the shelf').waitFor();
  await expect.poll(streams).toBe(opened + 1);
  await sql("update todo set title = 'Sand the shelf' where title = 'Wax the shelf'");
  await second.todo('Sand the shelf').waitFor();
  expect(streams()).toBe(opened + 1);
});
