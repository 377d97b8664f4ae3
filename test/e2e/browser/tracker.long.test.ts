/** Tests how the issue tracker renders and syncs. */
import { expect } from 'vitest';
import { it } from './fixture.js';
import { first, online, second, synced, useTracker } from './tracker-fixture.js';
import { pulledRows } from './tracker-page.js';

const { visit, sql, countOf } = useTracker();

it('the first page shows the rows that the server has rendered, and is live after one pull', async () => {
  const tracker = await visit(`/ann/${first}`);
  const { page, issue } = tracker;
  await synced(tracker, await countOf(first));
  await online(tracker);
  expect(await pulledRows(tracker.pulls.slice(0, 1), 'issue')).toHaveProperty('size', await countOf(first));
  expect(await page.evaluate(() => window.rows.fewest)).toBeGreaterThan(0);
  // React has taken over the server's elements.
  expect(await page.evaluate(() => window.rows.first!.isConnected)).toBe(true);

  await sql("update issue set title = 'Test one' where id = 'test-1'");
  await issue('Test one').waitFor();
  await page.reload();
  await synced(tracker, await countOf(first));
  expect(await page.evaluate(() => window.rows.fewest)).toBeGreaterThan(0);
});

it('a later visit shows the rows that the server has rendered, and no older ones', async () => {
  const tracker = await visit(`/ann/${first}`);
  const { page, issue, watching } = tracker;
  await synced(tracker, await countOf(first));
  await online(tracker);
  // The data has been saved by then.
  await page.waitForTimeout(2_000);
  await sql("update issue set title = 'Test renamed' where id = 'test-2'");
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/sync/pull', async (route) => {
    await held;
    await route.continue();
  });
  watching.allow(/failed: .*\/sync\//);
  await page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.body?.textContent?.includes('Test 2')) document.documentElement.dataset.older = 'true';
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  await page.reload();
  await issue('Test renamed').waitFor();
  await page.waitForTimeout(1_500);
  answer();
  await online(tracker);
  expect(await page.locator('html').getAttribute('data-older')).toBeNull();
});

it('only the opened projects are synced', async () => {
  const tracker = await visit(`/ann/${first}`);
  await synced(tracker, await countOf(first));
  await tracker.project(second).click();
  await synced(tracker, await countOf(first, second));
  const rows = [...(await pulledRows(tracker.pulls, 'issue')).values()] as { projectID: string }[];
  expect(new Set(rows.map(({ projectID }) => projectID))).toEqual(new Set([first, second]));
  expect(rows).toHaveLength(await countOf(first, second));
  await tracker.page.goBack();
  await tracker.issue('Test 1').waitFor();
});

it('a project under the pointer is synced before the click, which then needs no request', async () => {
  const tracker = await visit(`/ann/${first}`);
  await synced(tracker, await countOf(first));
  await tracker.project(second).hover();
  await synced(tracker, await countOf(first, second));
  await online(tracker);
  await tracker.page.waitForTimeout(1_000);

  const requests = () => ['/sync/pull', '/sync/poke'].map((path) => tracker.watching.requestsTo(path).length);
  const before = requests();
  const took = await tracker.page.evaluate(async (id) => {
    const link = document.querySelector<HTMLElement>(`[data-project="${id}"]`)!;
    const shown = () => document.querySelector<HTMLAnchorElement>('.issue .title')?.pathname;
    window.rows.fewest = Number.POSITIVE_INFINITY;
    const start = performance.now();
    link.click();
    while (!shown()?.includes(id)) await new Promise(requestAnimationFrame);
    return performance.now() - start;
  }, second);
  console.log(`a preloaded project is on the screen after ${took.toFixed(0)} ms`);
  await tracker.page.waitForTimeout(500);
  expect(requests()).toEqual(before);
  expect(await tracker.page.evaluate(() => window.rows.fewest)).toBeGreaterThan(0);
});

it('shows the changes of another user, and marks an issue as unread until it is opened', async () => {
  await sql(`insert into member values ('${first}', 'ben') on conflict do nothing`);
  const [ann, ben] = [await visit(`/ann/${first}`), await visit(`/ben/${first}/test-2`)];
  await ben.panel.getByRole('button', { name: /^Status/ }).click();
  await ben.page.getByRole('option', { name: 'In review' }).click();
  await ann
    .field('Test 2', 'Status')
    .and(ann.page.getByRole('button', { name: 'Status: In review' }))
    .waitFor();
  await ben.panel.getByRole('textbox', { name: 'Comment' }).fill('Ready for you.');
  await ben.panel.getByRole('button', { name: 'Comment', exact: true }).click();
  await ben.panel.getByText('Ready for you.').waitFor();

  await ann.issue('Test 2').getByRole('img', { name: 'Unread' }).waitFor();
  expect(await ann.issue('Test 2').locator('.comments').textContent()).toBe('1');
  await ann.issue('Test 2').getByRole('link').click();
  await ann.panel.getByText('Ready for you.').waitFor();
  await ann.issue('Test 2').getByRole('img', { name: 'Unread' }).waitFor({ state: 'detached' });
  await expect.poll(() => sql("select from seen where issue_id = 'test-2' and person_id = 'ann'")).toHaveLength(1);
});

it('an issue that is created offline is saved when the client is online again', async () => {
  const tracker = await visit(`/ann/${first}`);
  const { page, issue, sync } = tracker;
  await online(tracker);
  await page.getByRole('button', { name: 'Offline' }).click();
  await page.getByRole('button', { name: 'New issue' }).click();
  const dialog = page.getByRole('dialog', { name: 'New issue' });
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Test offline');
  await dialog.getByRole('button', { name: /^Priority/ }).click();
  await page.getByRole('option', { name: 'Urgent' }).click();
  await dialog.getByRole('button', { name: /^Assignee/ }).click();
  await page.getByRole('option', { name: 'Cam' }).click();
  await dialog.getByRole('button', { name: 'Create issue' }).click();
  await issue('Test offline').waitFor();
  await issue('Test offline').getByRole('button', { name: 'Assignee: Cam' }).waitFor();
  expect(await issue('Test offline').locator('.number').textContent()).toBe('ACC');
  await sync.getByText('offline, 1 unsaved').waitFor();
  expect(await sql("select from issue where title = 'Test offline'")).toEqual([]);

  await page.getByRole('button', { name: 'Offline' }).click();
  await online(tracker);
  const stored = "select priority, assignee_id, project_id from issue where title = 'Test offline'";
  expect(await sql(stored)).toEqual([{ priority: 1, assignee_id: 'cam', project_id: first }]);
  await expect.poll(() => issue('Test offline').locator('.number').textContent()).toMatch(/^ACC-\d+$/);
});
