/** Tests the example for TanStack DB as delivered, with its 10,000 products. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject } from 'vitest';
import { tanstackMain } from '../../support/built.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { type Example, startExample } from '../example/example.js';
import { launchChromium } from './chromium.js';
import { it } from './fixture.js';
import { composeText } from './input-method.js';
import { type Watch, watch } from './watch.js';

const chromium = inject('chromium');
let database: TestDatabase;
let example: Example;
let browser: Browser;
let context: BrowserContext;
let watching: Watch;
let page: Page;

declare global {
  interface Window {
    /** The texts that a product has shown after each change of the page. */
    shown: string[];
  }
}

beforeAll(async () => {
  if (!chromium) return;
  database = await createEmptyDatabase();
  example = await startExample({ DATABASE_URL: database.url }, [tanstackMain]);
  browser = await launchChromium(chromium);
});
afterAll(async () => {
  await browser?.close();
  await example?.stop();
  await database?.drop();
});

beforeEach(async () => {
  if (!chromium) return;
  await database.pool.query(`
    update product set stock = 10 where id in ('product-1', 'product-2');
    update product set name = '#1 Valve' where id = 'product-1'; update product set name = '#2 Bolt' where id = 'product-2'`);
  context = await browser.newContext();
  context.setDefaultTimeout(20_000);
  watching = watch(context, example.url);
  page = await context.newPage();
  await page.goto(example.url);
  await product(1).waitFor();
  await status('online, all saved');
});
afterEach(async () => {
  await context?.close();
  expect(watching?.problems() ?? []).toEqual([]);
});

const product = (number: number) => page.locator(`li[data-id="product-${number}"]`);
const stock = (number: number) => product(number).locator('.stock');
const category = (name: string) => page.getByRole('navigation').getByRole('button', { name: new RegExp(`^${name}`) });
const status = (text: string) => expect.poll(() => page.getByRole('status').textContent()).toBe(text);
const sql = (text: string) => database.pool.query(text);

/** Records what a product shows now and after each change of the page. */
const observe = (number: number) =>
  product(number).evaluate((row) => {
    const { id } = row.dataset;
    const note = () => {
      const now = document.querySelector(`li[data-id="${id}"]`);
      const text = now
        ? `${now.querySelector('.name')!.textContent} ${now.querySelector('.stock')!.textContent}`
        : 'gone';
      if (window.shown.at(-1) !== text) window.shown.push(text);
    };
    window.shown = [];
    note();
    new MutationObserver(note).observe(document.body, { childList: true, characterData: true, subtree: true });
  });

/** Holds the page's pushes until they are released. */
async function holdPushes(): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/sync/push', (route) => released.then(() => route.continue()));
  return release;
}

it('a change never flickers during its push, and is replayed on changes that arrive in that time', async () => {
  const release = await holdPushes();
  await observe(1);
  for (let i = 0; i < 3; i++) await product(1).getByRole('button', { name: /^Add/ }).click();
  await expect.poll(() => stock(1).textContent()).toBe('13');
  await status('online, 3 not saved yet');
  await product(1).getByRole('img', { name: 'Not saved yet' }).waitFor();

  await sql("update product set stock = 77 where id = 'product-2'");
  await expect.poll(() => stock(2).textContent()).toBe('77');
  expect(await product(2).getByRole('img').count()).toBe(0);
  await sql("update product set stock = 100, name = '#1 Ball valve' where id = 'product-1'");
  await expect.poll(() => stock(1).textContent()).toBe('103');
  await product(1).getByRole('img', { name: 'Not saved yet' }).waitFor();

  release();
  await status('online, all saved');
  await product(1).getByRole('img').waitFor({ state: 'detached' });
  const shown = ['10', '11', '12', '13'].map((count) => `#1 Valve ${count}`);
  expect(await page.evaluate(() => window.shown)).toEqual([...shown, '#1 Ball valve 103']);
  const { rows } = await sql("select stock from product where id = 'product-1'");
  expect(rows).toEqual([{ stock: 103 }]);
});

it('a refused change is undone, and the page shows why', async () => {
  const release = await holdPushes();
  await observe(1);
  await product(1).getByRole('button', { name: /^Take/ }).click();
  await expect.poll(() => stock(1).textContent()).toBe('9');
  // As if another user had been quicker.
  await sql("update product set stock = 0 where id = 'product-1'");
  release();
  await expect.poll(() => page.getByRole('status').textContent()).toMatch(/^There are not that many left/);
  await expect.poll(() => stock(1).textContent()).toBe('0');
  const shown = await page.evaluate(() => window.shown);
  expect(shown.filter((text) => text === '#1 Valve 10')).toHaveLength(1);
});

it('10,000 products are filtered, joined and counted, and a change updates all results immediately', async () => {
  await expect.poll(() => category('All').textContent()).toMatch(/10,000 products/);
  const { rows } = await sql(`
    select sum(stock)::int as stock, count(*)::int as products from product where category_id = 'valves'`);
  const [{ stock: total, products }] = rows as [{ stock: number; products: number }];
  const summaryOf = (sum: number) =>
    `Valves${products.toLocaleString('en')} products, ${sum.toLocaleString('en')} pieces`;
  await expect.poll(() => category('Valves').textContent()).toBe(summaryOf(total));
  await category('Valves').click();
  await page.getByRole('searchbox').fill('8');
  await sql("update product set name = '#8 Valve', stock = stock + 5 where id = 'product-7'");
  await product(7).waitFor();
  await expect.poll(() => category('Valves').textContent()).toBe(summaryOf(total + 5));
  const names = await page.locator('li .name').allTextContents();
  expect(names.length).toBeGreaterThan(5);
  expect(names.length).toBeLessThan(200);
  expect(names.filter((name) => !/8/.test(name) || !/valve/i.test(name))).toEqual([]);

  await product(7).getByRole('button', { name: '#8 Valve', exact: true }).click();
  await product(7).getByRole('textbox').fill('#88 Valve');
  const took = await page.evaluate(async () => {
    const start = performance.now();
    document.querySelector<HTMLInputElement>('li input')!.blur();
    while (!document.querySelector('li .name')?.textContent?.startsWith('#88'))
      await new Promise(requestAnimationFrame);
    return performance.now() - start;
  });
  console.log(`a change among 10,000 products is on the screen after ${took.toFixed(0)} ms`);
  await status('online, all saved');
});

describe('an edit of a name that changes during the edit', () => {
  const field = () => page.getByRole('textbox', { name: 'Name' });
  const nameOf = async (number: number) => {
    const { rows } = await sql(`select name from product where id = 'product-${number}'`);
    return rows[0]?.name;
  };
  const positionOf = (number: number) => product(number).evaluate(({ style }) => style.transform);

  /** Edits a product, whose row then moves to the end of the list, out of sight. */
  async function openAndRename(number: number, name: string): Promise<void> {
    const before = await positionOf(number);
    await product(number).getByRole('button', { name, exact: true }).click();
    await field().waitFor();
    await sql(`update product set name = 'Zz ${number}' where id = 'product-${number}'`);
    await expect.poll(() => positionOf(number)).not.toBe(before);
  }

  it.each([
    ['by Enter', () => field().press('Enter')],
    ['by leaving the field', () => page.getByRole('searchbox').focus()],
    [
      'by Escape, after typing',
      () =>
        field()
          .pressSequentially('x')
          .then(() => field().press('Escape')),
    ],
  ])('writes nothing if it ends %s and the text is unchanged', async (_, end) => {
    await openAndRename(1, '#1 Valve');
    await end();
    await field().waitFor({ state: 'detached' });
    // All earlier writes have reached the server as well.
    await page.getByRole('searchbox').fill('#2');
    await product(2).getByRole('button', { name: /^Add/ }).click();
    await expect.poll(() => stock(2).textContent()).toBe('11');
    await status('online, all saved');
    expect(await nameOf(1)).toBe('Zz 1');
  });

  it('writes the changed text even if the row has moved out of view', async () => {
    await openAndRename(2, '#2 Bolt');
    await field().fill('#2 Screw');
    await field().press('Enter');
    await expect.poll(() => nameOf(2)).toBe('#2 Screw');
  });

  it('does not end with the Enter of an input method', async () => {
    await product(1).getByRole('button', { name: '#1 Valve', exact: true }).click();
    await field().fill('');
    await composeText(page, field(), 'たな');
    expect(await field().inputValue()).toBe('たな');
    await field().press('Enter');
    await expect.poll(() => nameOf(1)).toBe('たな');
  });
});

it('the page shows why the client does not sync', async () => {
  watching.allow(/\b500\b/);
  await page.route('**/sync/push', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await product(1).getByRole('button', { name: /^Add/ }).click();
  const alert = page.getByRole('alert');
  await expect.poll(() => alert.textContent()).toMatch(/\/sync\/push answered with 500\. What to do: /);
  await page.unroute('**/sync/push');
  await alert.waitFor({ state: 'detached' });
  await status('online, all saved');
});
