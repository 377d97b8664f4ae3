/** The issue tracker as delivered, with 6,000 issues in its 200 projects, and browser profiles for each test. */
import type { Browser, BrowserContext, BrowserContextOptions, Response } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from 'vitest';
import { trackerMain } from '../../support/built.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { type Example, startExample } from '../example/example.js';
import { launchChromium } from './chromium.js';
import { observeRows, type Tracker, trackerOn } from './tracker-page.js';
import { type Watch, watch } from './watch.js';

const chromium = inject('chromium');

/** The first project, which the tests' own issues are in, another one, and one without issues. */
export const [first, second, empty] = ['accounts-analytics', 'accounts-api', 'teams-ideas'] as const;

export interface Visit extends Tracker {
  readonly watching: Watch;
  /** The answers to pulls so far. */
  readonly pulls: readonly Response[];
}

export interface TrackerFixture {
  /** Opens an address in a new browser profile. */
  visit(path: string, options?: BrowserContextOptions): Promise<Visit>;
  sql<Row extends object>(text: string): Promise<Row[]>;
  /** The number of issues of projects. */
  countOf(...projects: readonly string[]): Promise<number>;
}

const ownIssues = `
  delete from issue where title like 'Test %';
  insert into issue (id, project_id, number, title, status, priority, creator_id, created_at)
  select 'test-' || n, '${first}', 9000 + n, 'Test ' || n, 'progress', 1, 'ann', now() + n * interval '1 minute'
  from generate_series(1, 3) as n`;

export function useTracker(): TrackerFixture {
  let database: TestDatabase;
  let example: Example;
  let browser: Browser;
  const opened: { readonly context: BrowserContext; readonly watching: Watch }[] = [];
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
    if (chromium) await database.pool.query(ownIssues);
  });
  afterEach(async () => {
    const closed = opened.splice(0);
    await Promise.all(closed.map(({ context }) => context.close()));
    expect(closed.flatMap(({ watching }) => watching.problems())).toEqual([]);
  });
  return {
    async visit(path, options = {}) {
      const viewport = { width: 1280, height: 800 };
      const context = await browser.newContext({ viewport, baseURL: example.url, ...options });
      context.setDefaultTimeout(20_000);
      const watching = watch(context, example.url);
      opened.push({ context, watching });
      const page = await context.newPage();
      const pulls: Response[] = [];
      page.on('response', (response) => void (response.url().endsWith('/sync/pull') && pulls.push(response)));
      await observeRows(page);
      await page.goto(path);
      return { ...trackerOn(page), watching, pulls };
    },
    async sql(text) {
      const { rows } = await database.pool.query(text);
      return rows;
    },
    async countOf(...projects) {
      const count = 'select count(*)::int as n from issue where project_id = any($1)';
      const { rows } = await database.pool.query(count, [projects]);
      return rows[0].n;
    },
  };
}

/** Waits until the page shows that this number of issues is in the browser. */
export async function synced({ issuesHere }: Tracker, number: number): Promise<void> {
  await expect.poll(issuesHere).toBe(number);
}

/** Waits until the client is online and everything is saved. */
export async function online({ sync }: Tracker): Promise<void> {
  await sync.getByText('online', { exact: true }).waitFor();
}
