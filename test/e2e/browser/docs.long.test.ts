import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest';
import { launchChromium } from './chromium.js';
import { type Docs, openDocs } from './docs-page.js';
import { type DocsServer, startDocsServer } from './docs-server.js';
import { it } from './fixture.js';
import { type Watch, watch } from './watch.js';

const prefix = '/some/prefix';
const create = '/api/mutators/todo/create';
const todo = { id: 't9', listID: 'home', title: 'Water the plants' };

let server: DocsServer;
let browser: Browser | undefined;
let context: BrowserContext | undefined;
let watched: Watch;

beforeAll(async () => {
  server = await startDocsServer(prefix);
  if (inject('chromium')) browser = await launchChromium(inject('chromium'));
});
afterAll(async () => {
  await browser?.close();
  await server.close();
});
afterEach(async () => {
  await context?.close();
  expect(watched?.problems() ?? []).toEqual([]);
});

async function open(options: BrowserContextOptions = {}): Promise<Docs> {
  context = await browser!.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(20_000);
  watched = watch(context, server.url);
  return openDocs(await context.newPage(), `${server.url}${prefix}/api/docs`);
}

describe('the documentation page', () => {
  it('authorizes and executes a call, without violating its policy or contacting another origin', async () => {
    const { page, authorize, open: openOperation } = await open();
    expect(await page.title()).toBe('Tasks & more');
    await authorize('ann');
    const operation = await openOperation(create);
    expect(JSON.parse(await operation.body.inputValue())).toEqual({ id: 't1', listID: 'home', title: 'Buy milk' });
    await operation.execute(todo);
    await expect.poll(() => operation.status.textContent()).toMatch(/^200/);
    expect(JSON.parse((await operation.answer.textContent())!)).toEqual({ ok: true, result: { created: todo } });
    expect(server.calls.at(-1)).toEqual({ userID: 'ann', args: todo });
  });

  it('shows schemas, copies the curl command, and downloads the response', async () => {
    const { page, open: openOperation } = await open();
    watched.allow(/401/);
    const { section, execute } = await openOperation(create);
    await section.getByText('Schema', { exact: true }).first().click();
    await section.getByText('listID', { exact: true }).waitFor();
    await section.getByText('Edit Value', { exact: true }).click();
    await execute(todo);
    await section.locator('.curl-command .copy-to-clipboard').click();
    const downloading = page.waitForEvent('download');
    await section.getByRole('button', { name: 'Download' }).click();
    await (await downloading).delete();
  });

  it('shows a refusal', async () => {
    const { open: openOperation } = await open();
    watched.allow(/401/);
    const operation = await openOperation(create);
    await operation.execute(todo);
    await expect.poll(() => operation.status.textContent()).toMatch(/^401/);
    expect(await operation.answer.textContent()).toMatch(/no valid authorization/);
  });

  it('does not store the token', async () => {
    const { page, authorize } = await open();
    await authorize('ann');
    expect(await page.evaluate(() => [...Object.entries(localStorage), ...Object.entries(sessionStorage)])).toEqual([]);
  });
});

describe('axe', () => {
  it.each(['light', 'dark'] as const)(
    'finds no accessibility violation on the documentation page in %s mode',
    async (colorScheme) => {
      const { page, open: openOperation, authorize } = await open({ colorScheme });
      await authorize('ann');
      const operation = await openOperation(create);
      await operation.execute(todo);
      await expect.poll(() => operation.status.textContent()).toMatch(/^200/);
      await page.evaluate(axe.source);
      expect(await page.evaluate(findViolations)).toEqual([]);
    },
  );
});

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Runs in the page. */
async function findViolations(): Promise<string[]> {
  const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
  const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}

const screenshots: readonly (BrowserContextOptions & { readonly name: string })[] = [
  { name: 'docs-light', colorScheme: 'light' },
  { name: 'docs-dark', colorScheme: 'dark' },
  { name: 'docs-narrow', viewport: { width: 360, height: 740 } },
];

describe('the screenshot', () => {
  for (const { name, ...options } of screenshots) {
    it(`${name} shows a page that fits its width`, async () => {
      const { page, open: openOperation, authorize } = await open(options);
      await authorize('ann');
      const operation = await openOperation(create);
      await operation.execute(todo);
      await expect.poll(() => operation.status.textContent()).toMatch(/^200/);
      const path = fileURLToPath(new URL(`screenshots/${name}.png`, import.meta.url));
      await page.screenshot({ path, fullPage: true });
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });
  }
});
