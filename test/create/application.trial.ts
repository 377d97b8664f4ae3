import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, it as anyIt, beforeAll, expect, inject } from 'vitest';
import { launchChromium } from '../browser/chromium.js';
import { type Watch, watch } from '../browser/watch.js';
import { root } from '../built.js';
import { npm, type Served, serve } from './npm.js';

const chromium = inject('chromium');
/** Skipped where there is no browser. */
const it = anyIt.skipIf(!chromium);

const parent = mkdtempSync(join(tmpdir(), 'tidemark-create-'));
const folder = join(parent, 'my app');
let browser: Browser;
const served: Served[] = [];
const contexts: BrowserContext[] = [];

beforeAll(async () => {
  browser = await launchChromium(chromium);
});
afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));
afterAll(async () => {
  for (const { kill } of served) kill();
  await browser?.close();
  rmSync(parent, { recursive: true, force: true });
});

async function serveScript(script: string): Promise<Served> {
  const one = await serve(folder, script);
  served.push(one);
  return one;
}

/** A page in a profile of its own. */
async function openPage(url: string): Promise<{ page: Page; watching: Watch }> {
  const context = await browser.newContext();
  contexts.push(context);
  context.setDefaultTimeout(20_000);
  const watching = watch(context, url);
  const page = await context.newPage();
  await page.goto(url);
  return { page, watching };
}

const todos = (page: Page) => page.getByRole('listitem').allTextContents();

async function add(page: Page, title: string): Promise<void> {
  await page.getByRole('textbox', { name: 'New todo' }).fill(title);
  await page.getByRole('button', { name: 'Add' }).click();
}

/** What a server that has ended in order leaves of its database: neither a lock nor the file of a running Postgres. */
function leftovers(): string[] {
  const data = join(folder, '.tidemark');
  return [...readdirSync(data), ...readdirSync(join(data, 'postgres'))].filter((name) => /^lock-|\.pid$/.test(name));
}

it('is made of the packages as they are published, compiles, and passes its test', async () => {
  await npm(root, 'pack', '--ignore-scripts', '--pack-destination', parent);
  await npm(root, 'pack', '--ignore-scripts', '--pack-destination', parent, '--workspace', 'create-tidemark');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const creator = join(parent, `create-tidemark-${version}.tgz`);
  await npm(parent, 'exec', '--yes', '--prefer-offline', `--package=${creator}`, '--', 'create-tidemark', 'my app');
  await npm(folder, 'pkg', 'set', `dependencies.tidemark=file:../tidemark-${version}.tgz`);
  await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund');
  await npm(folder, 'run', 'check');
  await npm(folder, 'test');
});

it('does not compile with a wrong mutator, argument or field, on either side', async () => {
  const mistakes: Record<string, [right: string, wrong: string]> = {
    'client/app.tsx': ['mutate.todo.setDone(', 'mutate.todo.finish('],
    'client/client.ts': ['update(id, { done })', 'update(id, { finished: done })'],
    'server/sync.ts': ['args.title', 'args.text'],
    'test/sync.test.ts': ["title: 'Say hello', created", 'title: 7, created'],
  };
  const texts = Object.keys(mistakes).map((file) => readFileSync(join(folder, file), 'utf8'));
  for (const [i, [file, [right, wrong]]] of Object.entries(mistakes).entries()) {
    expect(texts[i]).toContain(right);
    writeFileSync(join(folder, file), texts[i]!.replace(right, wrong));
  }
  const output = await npm(folder, 'run', 'check').catch(String);
  expect([...new Set([...output.matchAll(/^(\S+)\(\d+/gm)].map(([, file]) => file))]).toEqual(Object.keys(mistakes));
  for (const [i, file] of Object.keys(mistakes).entries()) writeFileSync(join(folder, file), texts[i]!);
});

it('is developed with one command, which begins anew with other code, and ends with Ctrl-C', async () => {
  const dev = await serveScript('dev');
  const [ann, phone] = [await openPage(dev.url), await openPage(dev.url)];
  await add(ann.page, 'Water the plants');
  await expect.poll(() => todos(phone.page)).toEqual(['Water the plants']);
  await phone.page.getByRole('checkbox', { name: 'Water the plants' }).check();
  await expect.poll(() => ann.page.getByRole('checkbox', { checked: true }).count()).toBe(1);
  for (const { watching } of [ann, phone]) {
    for (const path of ['/sync/push', '/sync/pull', '/sync/poke']) expect(watching.requestsTo(path)).not.toEqual([]);
    expect(watching.problems()).toEqual([]);
  }
  const other = await openPage(`${dev.url}/?user=ben`);
  await expect.poll(() => other.page.getByRole('status').textContent()).toBe('online');
  expect(await todos(other.page)).toEqual([]);

  // What the server's code says now is seen without a reload.
  for (const { watching } of [ann, phone, other]) watching.allow(/ERR_|503/);
  const views = join(folder, 'server/sync.ts');
  const text = readFileSync(views, 'utf8');
  writeFileSync(views, text.replace('select id, title,', "select id, title || '!' as title,"));
  await expect.poll(() => todos(phone.page)).toEqual(['Water the plants!']);
  // A mistake is told, and can be mended.
  writeFileSync(views, text.replace('select id, title,', 'select id, name as title,'));
  await dev.running.printed(/column "name" does not exist/);
  writeFileSync(views, text);
  await expect.poll(() => todos(phone.page)).toEqual(['Water the plants']);

  await dev.interrupt();
  expect(leftovers()).toEqual([]);
});

it('is built, and served with the data that is there, until it is told to stop', async () => {
  await npm(folder, 'run', 'build');
  const production = await serveScript('start');
  const [ann, phone] = [await openPage(production.url), await openPage(production.url)];
  await expect.poll(() => todos(ann.page)).toEqual(['Water the plants']);
  await add(ann.page, 'Pay the rent');
  await expect.poll(() => todos(phone.page)).toEqual(['Water the plants', 'Pay the rent']);
  for (const { watching } of [ann, phone]) expect(watching.problems()).toEqual([]);
  const script = await ann.page.locator('script').getAttribute('src');
  const { headers } = await fetch(new URL(script!, production.url));
  expect(headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
  expect((await fetch(production.url)).headers.get('Cache-Control')).toBe('no-cache');
  expect((await fetch(`${production.url}/nothing`)).status).toBe(404);

  await production.terminate();
  await expect.poll(leftovers).toEqual([]);
});
