import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, it as anyIt, beforeAll, expect, inject } from 'vitest';
import { createEmptyDatabase } from '../../support/database.js';
import { launchChromium } from '../browser/chromium.js';
import { type Watch, watch } from '../browser/watch.js';
import { npm, npmWith, packed, type Served, serve } from './npm.js';

const chromium = inject('chromium');
/** Skipped without a browser. */
const it = anyIt.skipIf(!chromium);

const parent = mkdtempSync(join(tmpdir(), 'tidemark-create-'));
const folder = join(parent, 'my app');
let browser: Browser;
const served: Served[] = [];
/** Shared by several tests. */
let dev: Served;
let production: Served;
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

async function serveScript(script: string, env?: Readonly<Record<string, string>>): Promise<Served> {
  const one = await serve(folder, script, env);
  served.push(one);
  return one;
}

/** Opens a page in its own profile. */
async function openPage(url: string): Promise<{ page: Page; watching: Watch }> {
  const context = await browser.newContext();
  contexts.push(context);
  context.setDefaultTimeout(20_000);
  const watching = watch(context, new URL(url).origin);
  const page = await context.newPage();
  await page.goto(url);
  return { page, watching };
}

const todos = (page: Page) => page.getByRole('listitem').allTextContents();

async function add(page: Page, title: string): Promise<void> {
  await page.getByRole('textbox', { name: 'New todo' }).fill(title);
  await page.getByRole('button', { name: 'Add' }).click();
}

/** Replaces a text in a file of the application while the work runs. */
async function edited(path: string, right: string, other: string, work: () => Promise<unknown>): Promise<void> {
  const file = join(folder, path);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(right);
  writeFileSync(file, text.replace(right, other));
  try {
    await work();
  } finally {
    writeFileSync(file, text);
  }
}

/** The paths that the service worker keeps. */
const cachedPaths = (page: Page) =>
  page.evaluate(async () => {
    const requests = (await caches.keys()).map(async (name) => (await caches.open(name)).keys());
    return (await Promise.all(requests)).flat().map(({ url }) => new URL(url).pathname);
  });

/** The files that an orderly shutdown must not leave in its database: a lock, and the file of a running Postgres. */
function leftovers(): string[] {
  const data = join(folder, '.tidemark');
  return [...readdirSync(data), ...readdirSync(join(data, 'postgres'))].filter((name) => /^lock-|\.pid$/.test(name));
}

it('an application made from the published packages compiles and passes its test', async () => {
  const names = {
    tidemark: 'tidemark',
    client: '@tidemark/client',
    'embedded-postgres': '@tidemark/embedded-postgres',
  };
  const [creator, ...tarballs] = await packed(parent, 'create-tidemark', ...Object.keys(names));
  await npm(parent, 'exec', '--yes', '--prefer-offline', `--package=${creator}`, '--', 'create-tidemark', 'my app');
  const sources = Object.values(names).map((name, i) => `dependencies.${name}=file:${tarballs[i]}`);
  await npm(folder, 'pkg', 'set', ...sources);
  await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund');
  await npm(folder, 'run', 'check');
  await npm(folder, 'test');
});

it('the application does not compile with a wrong mutator, argument or field, on either side', async () => {
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

it('one command runs the application for development, and prints what it does', async () => {
  dev = await serveScript('dev');
  const lines = [
    / {2}Starting the embedded Postgres\n/,
    / {2}Creating a Postgres 18 database in \S.*\.tidemark.postgres\.\n[\s\S]*/,
    / {2}Ready +http:\/\/127\.0\.0\.1:\d+\n/,
    / {2}Database +postgres:\/\/postgres@127\.0\.0\.1:\d+\/tidemark \(the password is in .*connection\.json\)\n/,
  ];
  await dev.running.printed(new RegExp(lines.map(({ source }) => source).join('')));

  const [ann, phone] = [await openPage(dev.url), await openPage(dev.url)];
  await add(ann.page, 'Water the plants');
  await expect.poll(() => todos(phone.page)).toEqual(['Water the plants']);
  await phone.page.getByRole('checkbox', { name: 'Water the plants' }).check();
  await expect.poll(() => ann.page.getByRole('checkbox', { checked: true }).count()).toBe(1);
  for (const { page } of [ann, phone]) await page.getByRole('button', { name: 'Work' }).click();
  await expect.poll(() => todos(phone.page)).toEqual([]);
  await add(ann.page, 'Write the offer');
  await expect.poll(() => todos(phone.page)).toEqual(['Write the offer']);
  await phone.page.getByRole('button', { name: 'Home' }).click();
  await expect.poll(() => todos(phone.page)).toEqual(['Water the plants']);
  for (const { watching } of [ann, phone]) {
    for (const path of ['/sync/push', '/sync/pull', '/sync/poke']) expect(watching.requestsTo(path)).not.toEqual([]);
    expect(watching.problems()).toEqual([]);
  }
  const other = await openPage(`${dev.url}/?user=ben`);
  await expect.poll(() => other.page.getByRole('status').textContent()).toBe('online');
  expect(await todos(other.page)).toEqual([]);
});

it('an edited component appears without a reload, and the text in a field stays', async () => {
  const { page, watching } = await openPage(`${dev.url}/list/7`);
  await expect.poll(() => todos(page)).toEqual(['Water the plants']);
  const field = page.getByRole('textbox', { name: 'New todo' });
  await field.fill('Half a sent');
  await edited('client/app.tsx', '<h1>Todos</h1>', '<h1>Things</h1>', async () => {
    await page.getByRole('heading', { name: 'Things' }).waitFor();
    expect(await field.inputValue()).toBe('Half a sent');
  });
  await page.getByRole('heading', { name: 'Todos' }).waitFor();
  // Another client replaces the one from before the edit.
  await edited('client/client.ts', '// What is seen at once.', '// What is seen here at once.', async () => {
    await expect.poll(() => watching.requestsTo('/client/client.ts')).toHaveLength(2);
    const phone = await openPage(dev.url);
    await phone.page.getByRole('checkbox', { name: 'Water the plants' }).uncheck();
    await expect.poll(() => page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    expect(phone.watching.problems()).toEqual([]);
  });
  expect(await field.inputValue()).toBe('Half a sent');
  expect(watching.problems()).toEqual([]);
});

it('the command line inspects, checks and migrates the database while the server runs', async () => {
  expect(await npm(folder, 'exec', '--', 'tidemark', 'status')).toMatch(
    /Views\n {2}todo .*incremental\n\nWhat a change of a table costs a pull\n {2}todo +public\.todo +changed rows\n\nTables\n.*captured[\s\S]*No problems found\./,
  );
  expect(await npm(folder, 'exec', '--', 'tidemark', 'doctor')).toMatch(/Nothing found|Found 0 errors/);
  await npm(folder, 'exec', '--', 'tidemark', 'migrate');
  expect((await fetch(`${dev.url}/readyz`)).status).toBe(200);
});

it('the server restarts when its code changes, and stops at Ctrl-C', async () => {
  const { page, watching } = await openPage(dev.url);
  await expect.poll(() => todos(page)).toEqual(['Water the plants']);
  // Changes to the server's code become visible without a reload.
  watching.allow(/ERR_|503/);
  const views = join(folder, 'server/sync.ts');
  const text = readFileSync(views, 'utf8');
  writeFileSync(views, text.replace('select id, list, title,', "select id, list, title || '!' as title,"));
  await expect.poll(() => todos(page)).toEqual(['Water the plants!']);
  // The mistake is printed, and the server works again after its correction.
  writeFileSync(views, text.replace('select id, list, title,', 'select id, list, name as title,'));
  await dev.running.printed(/column "name" does not exist/);
  writeFileSync(views, text);
  await expect.poll(() => todos(page)).toEqual(['Water the plants']);

  await dev.interrupt();
  expect(leftovers()).toEqual([]);
});

it('the built application serves the existing data', async () => {
  await npm(folder, 'run', 'build');
  production = await serveScript('start');
  const [ann, phone] = [await openPage(production.url), await openPage(production.url)];
  await expect.poll(() => todos(ann.page)).toEqual(['Water the plants']);
  await add(ann.page, 'Pay the rent');
  await expect.poll(() => todos(phone.page)).toEqual(['Water the plants', 'Pay the rent']);
  for (const { watching } of [ann, phone]) expect(watching.problems()).toEqual([]);
  const script = await ann.page.locator('script').getAttribute('src');
  const { headers } = await fetch(new URL(script!, production.url));
  expect(headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
  expect((await fetch(production.url)).headers.get('Cache-Control')).toBe('no-cache');
});

it('the server sends the same page for all client routes, and 404 for missing files', async () => {
  const get = async (path: string, accept = 'text/html,*/*;q=0.8') => {
    const response = await fetch(production.url + path, { headers: { Accept: accept } });
    return { response, isPage: (await response.text()).includes('<div id="root">') };
  };
  for (const path of ['/', '/list/7', '/a/b/c/']) {
    const { response, isPage } = await get(path);
    expect([path, response.status, isPage]).toEqual([path, 200, true]);
    expect(response.headers.get('Cache-Control')).toBe('no-cache');
  }
  for (const [path, accept] of [
    ['/list/7', 'application/json'],
    ['/assets/missing.js'],
    ['/list/picture.png'],
    ['/sync/missing'],
    ['/api/missing'],
  ] as const) {
    const { response, isPage } = await get(path, accept);
    expect([path, response.status, isPage]).toEqual([path, 404, false]);
  }
  const { page, watching } = await openPage(`${production.url}/list/7`);
  await expect.poll(() => todos(page)).toEqual(['Water the plants', 'Pay the rent']);
  expect(watching.problems()).toEqual([]);
});

it('the page opens offline after the first visit, accepts changes, and sends them later', async () => {
  const { page, watching } = await openPage(production.url);
  await expect.poll(() => todos(page)).toEqual(['Water the plants', 'Pay the rent']);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await expect.poll(() => page.getByRole('status').textContent()).toBe('online');
  // The page does not wait for a server that accepts the connection and does not respond.
  const group = -production.running.child.pid!;
  process.kill(group, 'SIGSTOP');
  try {
    await page.reload();
    await expect.poll(() => todos(page)).toEqual(['Water the plants', 'Pay the rent']);
  } finally {
    process.kill(group, 'SIGCONT');
  }
  await expect.poll(() => page.getByRole('status').textContent()).toBe('online');
  expect(watching.problems()).toEqual([]);

  const port = new URL(production.url).port;
  await production.terminate();
  await expect.poll(leftovers).toEqual([]);

  watching.allow(/ERR_(CONNECTION_REFUSED|FAILED|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)|503/);
  const tab = await page.context().newPage();
  await tab.goto(`${production.url}/list/7`);
  await page.reload();
  for (const each of [tab, page]) {
    await expect.poll(() => todos(each)).toEqual(['Water the plants', 'Pay the rent']);
    await expect.poll(() => each.getByRole('status').textContent()).toBe('offline');
  }
  await add(tab, 'Buy a cable');
  expect(await cachedPaths(tab)).not.toEqual([]);
  for (const path of await cachedPaths(tab)) expect(path).not.toMatch(/^\/(sync|api)\b/);

  // The next page shows another build if there is a network, and from then on also without.
  const [first] = await tab.evaluate(() => caches.keys());
  await edited('client/app.tsx', '<h1>Todos</h1>', '<h1>Things</h1>', () => npm(folder, 'run', 'build'));
  production = await serveScript('start', { PORT: port });
  await tab.reload();
  await tab.getByRole('heading', { name: 'Things' }).waitFor();
  const phone = await openPage(production.url);
  await expect.poll(() => todos(phone.page)).toEqual(['Water the plants', 'Pay the rent', 'Buy a cable']);
  await expect.poll(() => tab.evaluate(() => caches.keys())).toEqual([expect.not.stringContaining(first!)]);
  await production.terminate();
  await page.reload();
  await page.getByRole('heading', { name: 'Things' }).waitFor();
  await expect.poll(() => todos(page)).toEqual(['Water the plants', 'Pay the rent', 'Buy a cable']);

  // In development, the page always comes from the server.
  dev = await serveScript('dev', { PORT: port });
  await page.reload();
  const workers = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
  await expect.poll(workers).toBe(0);
  await page.getByRole('heading', { name: 'Todos' }).waitFor();
  await dev.interrupt();
});

it('with its own Postgres, the application needs `tidemark migrate` before it starts', async () => {
  const database = await createEmptyDatabase();
  const env = { DATABASE_URL: database.url };
  try {
    await expect(serve(folder, 'start', env)).rejects.toThrow(/tidemark migrate/);
    await database.pool.query(readFileSync(join(folder, 'server/schema.sql'), 'utf8'));
    await npmWith(env, folder, 'exec', '--', 'tidemark', 'migrate');
    expect(await npmWith(env, folder, 'exec', '--', 'tidemark', 'status')).toMatch(/No problems found/);
    production = await serveScript('start', env);
    const { page } = await openPage(production.url);
    await add(page, 'Move the data');
    await expect.poll(() => todos(page)).toEqual(['Move the data']);
    await production.terminate();
  } finally {
    await database.drop();
  }
});
