/** Tests the issue tracker as delivered, with 6,000 issues in its 200 projects. */
import type { Browser, BrowserContext, BrowserContextOptions, Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject } from 'vitest';
import { trackerMain } from '../../support/built.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { type Example, startExample } from '../example/example.js';
import { launchChromium } from './chromium.js';
import { it } from './fixture.js';
import { observeRows, pulledRows, type Tracker, trackerOn } from './tracker-page.js';
import { type Watch, watch } from './watch.js';

const chromium = inject('chromium');
let database: TestDatabase;
let example: Example;
let browser: Browser;
const opened: { readonly context: BrowserContext; readonly watching: Watch }[] = [];

const [first, second, empty] = ['accounts-analytics', 'accounts-api', 'teams-ideas'] as const;

beforeAll(async () => {
  if (!chromium) return;
  database = await createEmptyDatabase();
  example = await startExample({ DATABASE_URL: database.url, TRACKER_ISSUES: '6000' }, [trackerMain]);
  browser = await launchChromium(chromium);
});
afterAll(async () => {
  await browser?.close();
  await example?.stop();
  await database?.drop();
});
beforeEach(async () => {
  if (!chromium) return;
  await sql(`
    delete from issue where title like 'Test %';
    insert into issue (id, project_id, number, title, status, priority, creator_id, created_at)
    select 'test-' || n, '${first}', 9000 + n, 'Test ' || n, 'progress', 1, 'ann', now() + n * interval '1 minute'
    from generate_series(1, 3) as n`);
});
afterEach(async () => {
  const closed = opened.splice(0);
  await Promise.all(closed.map(({ context }) => context.close()));
  expect(closed.flatMap(({ watching }) => watching.problems())).toEqual([]);
});

interface Visit extends Tracker {
  readonly watching: Watch;
  readonly pulls: Response[];
}

/** Opens an address in a new browser profile. */
async function visit(path: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(20_000);
  const watching = watch(context, example.url);
  opened.push({ context, watching });
  const page = await context.newPage();
  const pulls: Response[] = [];
  page.on('response', (response) => void (response.url().endsWith('/sync/pull') && pulls.push(response)));
  await observeRows(page);
  await page.goto(example.url + path);
  return { ...trackerOn(page), watching, pulls };
}

async function sql<Row extends object>(text: string): Promise<Row[]> {
  const { rows } = await database.pool.query(text);
  return rows;
}
const countOf = async (...projects: readonly string[]) => {
  const [row] = await sql<{ n: number }>(
    `select count(*)::int as n from issue where project_id in (${projects.map((id) => `'${id}'`).join()})`,
  );
  return row!.n;
};
const synced = ({ issuesHere }: Tracker, number: number) => expect.poll(issuesHere).toBe(number);
const online = ({ sync }: Tracker) => sync.getByText('online', { exact: true }).waitFor();
const statusOf = async (id: string) =>
  (await sql<{ status: string }>(`select status from issue where id = '${id}'`))[0];

it('the first page shows the rows that the server has rendered, and is live after one pull', async () => {
  const tracker = await visit(`/ann/${first}`);
  const { page, issue } = tracker;
  await synced(tracker, await countOf(first));
  await online(tracker);
  expect(await pulledRows(tracker.pulls.slice(0, 1), 'issue')).toHaveProperty('size', await countOf(first));
  expect(await page.evaluate(() => window.rows.fewest)).toBeGreaterThan(5);
  // React has taken over the server's elements.
  expect(await page.evaluate(() => window.rows.first!.isConnected)).toBe(true);

  await sql("update issue set title = 'Test one' where id = 'test-1'");
  await issue('Test one').waitFor();
  await page.reload();
  await synced(tracker, await countOf(first));
  expect(await page.evaluate(() => window.rows.fewest)).toBeGreaterThan(5);
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
  expect(await tracker.page.evaluate(() => window.rows.fewest)).toBeGreaterThan(5);
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

it('the keyboard does everything', async () => {
  const tracker = await visit(`/ann/${first}`);
  const { page, issue, panel } = tracker;
  await online(tracker);
  const selected = () => page.locator('.issue.selected .title').textContent();
  const press = (keys: string) => page.keyboard.press(keys);
  // The newest of the urgent ones come first.
  for (const [key, title] of [
    ['j', 'Test 3'],
    ['ArrowDown', 'Test 2'],
    ['j', 'Test 1'],
    ['k', 'Test 2'],
  ] as const) {
    await press(key);
    await expect.poll(selected).toBe(title);
  }
  await press('s');
  await press('d');
  await press('Enter');
  await expect.poll(() => statusOf('test-2')).toEqual({ status: 'done' });

  await press('k');
  await press('j');
  await press('Enter');
  await panel.waitFor();
  await press('Escape');
  await panel.waitFor({ state: 'detached' });

  await press('/');
  await page.keyboard.type('test 3');
  await issue('Test 1').waitFor({ state: 'detached' });
  await issue('Test 3').waitFor();
  await press('Enter');
  await press('Escape');
  await issue('Test 1').waitFor();

  await press('c');
  await page.keyboard.type('Test by keyboard');
  await press('Enter');
  await issue('Test by keyboard').waitFor();
  await press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await help.waitFor();
  await press('Escape');
  await help.waitFor({ state: 'detached' });
});

it('an empty project says so, and an unknown one too', async () => {
  const { page, issue } = await visit(`/ann/${empty}`);
  await page.getByRole('heading', { name: 'No issues yet' }).waitFor();
  await page.getByRole('button', { name: 'create the first issue' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Test of an empty project');
  await page.keyboard.press('Enter');
  await issue('Test of an empty project').waitFor();
  await page.goto(`${example.url}/ann/unknown`);
  await page.getByRole('heading', { name: 'No such project' }).waitFor();
});

describe('the colours', () => {
  const ground = ({ page }: Tracker) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const [light, dark] = ['rgb(246, 247, 248)', 'rgb(13, 15, 17)'];

  it.each([
    ['light', light, dark],
    ['dark', dark, light],
  ] as const)('follow a system that is %s, until the user chooses the other', async (colorScheme, own, other) => {
    const tracker = await visit(`/ann/${first}`, { colorScheme });
    expect(await ground(tracker)).toBe(own);
    await online(tracker);
    await tracker.page.getByRole('button', { name: 'Light or dark' }).click();
    expect(await ground(tracker)).toBe(other);
    await tracker.page.reload();
    expect(await ground(tracker)).toBe(other);
  });
});

it('fits a narrow screen', async () => {
  const { page, project, issue, panel } = await visit(`/ann/${first}`, { viewport: { width: 390, height: 800 } });
  await page.getByRole('button', { name: 'Projects' }).click();
  await project(second).click();
  await page.getByRole('heading', { name: 'API' }).waitFor();
  await page.getByRole('button', { name: 'Projects' }).click();
  await project(first).click();
  await issue('Test 1').getByRole('link').click();
  await panel.getByRole('heading', { name: 'Test 1' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});
