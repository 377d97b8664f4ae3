/** Tests browsers and web views that lack parts of the platform. */
import { beforeEach, expect } from 'vitest';
import { useClientPages } from './client-page.js';
import { it } from './fixture.js';

const pages = useClientPages();

beforeEach(async () => {
  await pages.pool?.query('delete from list; delete from tidemark.refusal');
});

const missing: Readonly<Record<string, string>> = {
  'AbortSignal.any and timeout': 'delete AbortSignal.any; delete AbortSignal.timeout',
  'reasons of signals': 'delete AbortSignal.prototype.reason; delete AbortSignal.prototype.throwIfAborted',
  TextDecoderStream: 'delete window.TextDecoderStream',
  'streams of responses': 'delete Response.prototype.body',
  TextEncoder: 'delete window.TextEncoder',
  locks: 'delete Navigator.prototype.locks',
  BroadcastChannel: 'delete window.BroadcastChannel',
  'permission for localStorage': `Object.defineProperty(window, 'localStorage', {
    get() { throw new DOMException('Not allowed', 'SecurityError'); },
  })`,
};

it.each(Object.entries({ ...missing, 'any of these': Object.values(missing).join(';') }))(
  'without %s, a page is poked, sends its mutations, and deletes all data at a sign-out',
  async (_, remove) => {
    const profile = await pages.profile();
    // A sign-out aborts requests in progress.
    profile.watch.allow(/net::ERR_ABORTED/);
    const { page, lists, status, create } = await profile.tab('ann', '', (page) => page.addInitScript(remove));
    await expect.poll(status).toBe('online 0');
    // The stream begins with a poke, so only a later poke shows that the client reads it.
    await page.waitForTimeout(1_000);
    await pages.pool.query("insert into list (id, owner_id, name) values ('b', 'ann', 'Poked')");
    await expect.poll(lists, { timeout: 5_000 }).toEqual(['Poked']);
    await create('a', 'Mine');
    await expect.poll(async () => (await pages.pool.query('select from list')).rowCount).toBe(2);
    await expect.poll(status).toBe('online 0');
    const stored = () =>
      page.evaluate(async () => {
        const databases = (await indexedDB.databases()).filter(({ name }) => name!.includes(' ann'));
        const counts = databases.map(
          ({ name }) =>
            new Promise<number>((resolve) => {
              const opened = indexedDB.open(name!);
              opened.onsuccess = () => {
                const keys = opened.result.transaction('chunks').objectStore('chunks').getAllKeys();
                keys.onsuccess = () => {
                  opened.result.close();
                  resolve(keys.result.filter((key) => String(key) !== 'tidemark/generation').length);
                };
              };
            }),
        );
        return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
      });
    await expect.poll(stored, { timeout: 10_000 }).toBeGreaterThan(0);
    await page.evaluate(() => window.client.signOut());
    expect(await lists()).toEqual([]);
    expect(await stored()).toBe(0);
  },
);

it.each([
  ['locks', 'closes the other too', 'closed signed-out 0'],
  ['BroadcastChannel', 'does not reach the other', 'online 0'],
])('without %s, each of two tabs has its own stream of pokes, and a sign-out in one %s', async (lacking, _, status) => {
  const profile = await pages.profile();
  // A tab that the sign-out does not reach loses the database nevertheless.
  profile.watch.allow(/Error during (persist|refresh).* was deleted/);
  const open = () => profile.tab('ann', '', (page) => page.addInitScript(missing[lacking]!));
  const [first, second] = [await open(), await open()];
  for (const tab of [first, second]) await expect.poll(tab.status).toBe('online 0');
  await expect.poll(() => profile.watch.requestsTo('/sync/poke').length).toBe(2);
  await first.page.evaluate(() => window.client.signOut());
  expect(await first.status()).toBe('closed 0');
  await second.page.waitForTimeout(2_000);
  expect(await second.status()).toBe(status);
  expect(profile.watch.requestsTo('/sync/poke')).toHaveLength(2);
});
