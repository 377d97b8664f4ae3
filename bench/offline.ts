/**
 * Measures what many offline calls and many rows cost a page: `@tidemark/client` in Chromium, with the example's server
 * on the same machine.
 *
 *   npm run bench -- offline                            10,000 calls, 120,000 rows
 *   npm run bench -- offline --calls 1000 --rows 10000  a smoke run
 */
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import type { Client } from '../packages/client/src/index.js';
import type { AnyViews } from '../packages/client/src/types.js';
import { findChromium, howToGetChromium, launchChromium } from '../test/e2e/browser/chromium.js';
import { clientInput, startClientServer } from '../test/e2e/browser/client-server.js';
import { startDatabase } from './database.js';
import { quantile } from './statistics.js';

const { values: options } = parseArgs({
  options: { calls: { type: 'string', default: '10000' }, rows: { type: 'string', default: '120000' } },
});
const [calls, rows] = [Number(options.calls), Number(options.rows)];

const html = `<!doctype html><title>Lists</title><link rel="icon" href="data:,"><output></output>
<script type="module">
import { createClient } from '/client.js';
const started = performance.now();
const user = new URLSearchParams(location.search).get('user');
const client = createClient({
  user, auth: 'Bearer ' + user,
  mutators: { list: { create: (tx, { id, name }) => tx.view('list').set(id, { id, name, ownerID: user }) } },
});
window.tasks = [];
new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' });
window.client = client;
window.shown = () => new Promise((resolve) => client.view('list').subscribe((lists) => lists.length > 0 && resolve(performance.now() - started)));
window.until = (isSo) => new Promise((resolve) => {
  const look = () => { if (isSo()) { stop(); also(); resolve(performance.now()); } };
  const stop = client.status.subscribe(look);
  const also = client.pending.subscribe(look);
  look();
});
</script>`;

declare global {
  interface Window {
    client: Client<unknown, AnyViews> & { readonly mutate: Record<string, (args: unknown) => Promise<void>> };
    tasks: number[];
    shown(): Promise<number>;
    until(isSo: () => boolean): Promise<number>;
  }
}

const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

async function measureCalls(page: Page): Promise<void> {
  const { times, longest } = await page.evaluate(async (count) => {
    const { client } = window;
    await window.until(() => client.status.get().state === 'online');
    client.setOnline(false);
    window.tasks.length = 0;
    const times: number[] = [];
    for (let i = 0; i < count; i++) {
      const before = performance.now();
      await client.mutate['list.create']!({ id: `called ${i}`, name: `List ${i}` });
      times.push(performance.now() - before);
    }
    return { times, longest: Math.max(0, ...window.tasks) };
  }, calls);
  const part = Math.min(500, Math.ceil(calls / 2));
  const [first, last] = [quantile(times.slice(0, part), 0.5), quantile(times.slice(-part), 0.5)];
  console.log(`offline call, median of the first ${part}      ${ms(first)}`);
  console.log(
    `offline call, median of the last ${part}       ${ms(last)}, ${(last / first).toFixed(2)} times the first`,
  );
  console.log(`longest task while ${calls} calls are made    ${ms(longest)}`);
  const sent = await page.evaluate(async () => {
    const { client } = window;
    window.tasks.length = 0;
    const before = performance.now();
    client.setOnline(true);
    const after = await window.until(() => client.pending.get().length === 0);
    return { took: after - before, longest: Math.max(0, ...window.tasks) };
  });
  console.log(`${calls} calls are sent and confirmed in     ${ms(sent.took)}`);
  console.log(`longest task while they are sent         ${ms(sent.longest)}, at most 200 ms wanted`);
}

async function measureRows(page: Page, url: string): Promise<void> {
  await page.goto(url);
  const shown = await page.evaluate(() => window.shown());
  const saved = await page.evaluate(async () => {
    const before = performance.now();
    return (await window.until(() => window.client.status.get().storage === 'saved')) - before;
  });
  console.log(`${rows} rows are shown after                 ${ms(shown)}`);
  console.log(`and saved                                ${ms(saved)} later`);
  for (const wait of [1_000, Math.ceil(saved) + 1_000]) {
    const context = await page.context().browser()!.newContext();
    const other = await context.newPage();
    let bytes = 0;
    other.on('response', async (response) => {
      if (!response.url().endsWith('/sync/pull')) return;
      bytes += (await response.request().sizes()).responseBodySize;
    });
    await other.goto(url);
    await other.evaluate(() => window.shown());
    await other.waitForTimeout(wait);
    const storage = await other.evaluate(() => window.client.status.get().storage);
    const before = bytes;
    await other.reload();
    const again = await other.evaluate(() => window.shown());
    await other.waitForTimeout(1_000);
    const kB = ((bytes - before) / 1000).toFixed(0);
    console.log(
      `reloaded ${ms(wait)} after they are shown, "${storage}": shown after ${ms(again)}, ${kB} kB more pulled (first: ${(before / 1000).toFixed(0)} kB)`,
    );
    await context.close();
  }
}

const chromium = findChromium();
if (!chromium) {
  console.error(`This needs a browser: ${howToGetChromium}.`);
  process.exit(1);
}
const database = await startDatabase();
const server = await startClientServer(database, { html, input: clientInput });
// Locks need a secure context, and localhost is one.
const url = server.url.replace('127.0.0.1', 'localhost');
const browser = await launchChromium(chromium);
try {
  await database.pool.query(
    `insert into list (id, owner_id, name) select i::text, 'ben', 'List ' || i from generate_series(1, $1::int) i`,
    [rows],
  );
  await measureRows(await (await browser.newContext()).newPage(), `${url}/?user=ben`);
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${url}/?user=ann`);
  await measureCalls(page);
} finally {
  await browser.close();
  await server.close();
  await database.stop();
}
