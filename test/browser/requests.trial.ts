/** Requests that get no response, in a browser, which has no time limit of its own. */
import { beforeEach, expect } from 'vitest';
import { useClientPages } from './client-page.js';
import { it } from './fixture.js';

const pages = useClientPages();

beforeEach(async () => {
  await pages.pool?.query('delete from list; delete from tidemark.refusal');
});

it.each(['push', 'pull'])('a %s that is swallowed is given up after a minute, and sent again', async (kind) => {
  const profile = await pages.profile();
  profile.watch.allow(/net::ERR_(ABORTED|FAILED)/);
  const { page, status, create } = await profile.tab('ann');
  await expect.poll(status).toBe('online 0');
  const asked = Date.now();
  await page.route(`**/sync/${kind}`, () => {});
  await create('a', 'Mine');
  await expect.poll(status, { timeout: 70_000 }).toMatch(/^offline timeout/);
  expect(Date.now() - asked).toBeGreaterThan(59_000);
  await page.unroute(`**/sync/${kind}`);
  await expect.poll(status, { timeout: 20_000 }).toBe('online 0');
  expect((await pages.pool.query('select from list')).rowCount).toBe(1);
});
