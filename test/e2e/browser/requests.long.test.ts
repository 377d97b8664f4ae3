/** Tests requests without a response, or with half of one. Browsers have no timeout of their own. */
import { beforeEach, expect } from 'vitest';
import { pass } from '../../stress/hostile/proxy.js';
import { useClientPages } from './client-page.js';
import { it } from './fixture.js';

const pages = useClientPages();

beforeEach(async () => {
  await pages.pool?.query('delete from list; delete from tidemark.refusal');
});

it('a push or a pull without a response times out after a minute, and is sent again', async () => {
  const isSentAgain = async (kind: string, user: string) => {
    const profile = await pages.profile();
    profile.watch.allow(/net::ERR_(ABORTED|FAILED)/);
    const { page, status, create } = await profile.tab(user);
    await expect.poll(status).toBe('online 0');
    const started = Date.now();
    await page.route(`**/sync/${kind}`, () => {});
    await create(kind, 'Mine');
    await expect.poll(status, { timeout: 70_000 }).toMatch(/^offline timeout/);
    expect(Date.now() - started).toBeGreaterThan(59_000);
    await page.unroute(`**/sync/${kind}`);
    await expect.poll(status, { timeout: 20_000 }).toBe('online 0');
  };
  await Promise.all([isSentAgain('push', 'ann'), isSentAgain('pull', 'ben')]);
  const { rows } = await pages.pool.query('select id from list order by id');
  expect(rows).toEqual([{ id: 'pull' }, { id: 'push' }]);
});

it('a pull times out after half a minute without data, but not while data keeps arriving', async () => {
  const [stuck, slow] = [await pages.profile(), await pages.profile()];
  stuck.watch.allow(/net::ERR_ABORTED/);
  const [stuckTab, slowTab] = [await stuck.tab('ann'), await slow.tab('ann')];
  for (const { page, status } of [stuckTab, slowTab]) {
    await expect.poll(status).toBe('online 0');
    await page.evaluate(() =>
      window.client.status.subscribe(({ state, error }) => {
        document.title += `, ${state} ${error?.code}`;
      }),
    );
  }
  stuck.treat('/sync/pull', { kind: 'halve' });
  // In 20 parts.
  slow.treat('/sync/pull', { kind: 'trickle', ms: 2_000 });
  const startedAt = Date.now();
  await pages.pool.query(
    "insert into list (id, owner_id, name) select n, 'ann', 'List ' || n from generate_series(1, 20) n",
  );
  await stuckTab.page.waitForTimeout(5_000);
  stuck.treat('/sync/pull', pass);

  await expect.poll(() => stuckTab.page.title(), { timeout: 40_000 }).toContain('offline timeout');
  expect(Date.now() - startedAt).toBeGreaterThan(29_000);
  await expect.poll(stuckTab.lists).toHaveLength(20);
  await expect.poll(stuckTab.status).toBe('online 0');

  expect(await slowTab.lists()).toEqual([]);
  await expect.poll(slowTab.lists, { timeout: 30_000 }).toHaveLength(20);
  expect(Date.now() - startedAt).toBeGreaterThan(35_000);
  expect(await slowTab.page.title()).not.toContain('offline');
});
