/**
 * Measures what a page costs that wants some rows of a large view, beside a page that syncs all of it: `@tidemark/client`
 * in Chromium, with a server on the same machine.
 *
 *   npm run bench -- on-demand                                  2,000 of 100,000 rows
 *   npm run bench -- on-demand --rows 10000 --wanted 200        a smoke run
 */
import { parseArgs } from 'node:util';
import type { Browser, Page, Request, Response } from 'playwright-core';
import { z } from 'zod';
import { defineView, sql } from '../packages/tidemark/src/index.js';
import { findChromium, howToGetChromium, launchChromium } from '../test/e2e/browser/chromium.js';
import { clientInput, startClientServer } from '../test/e2e/browser/client-server.js';
import { startDatabase } from './database.js';
import { median } from './statistics.js';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    wanted: { type: 'string', default: '2000' },
    turns: { type: 'string', default: '3' },
  },
});
const [rows, wanted, turns] = [Number(options.rows), Number(options.wanted), Number(options.turns)];
/** The size of a project. The page wants as many projects as have the wanted rows. */
const perProject = 500;
const projects = Math.ceil(wanted / perProject);

const columns = sql`id, title, "listID"`;
const entries = sql`select t.id, t.title || repeat(' and more', 8) as title, t.list_id as "listID" from todo t`;
const views = {
  entry: defineView({
    args: z.object({ listID: z.string() }),
    query: ({ args }) => sql<{ id: string }>`select ${columns} from (${entries}) e where "listID" = ${args.listID}`,
    key: 'id',
    schemaVersions: ['wanted'],
  }),
  whole: defineView({
    query: () => sql<{ id: string }>`select ${columns} from (${entries}) e`,
    key: 'id',
    schemaVersions: ['whole'],
  }),
};

const html = `<!doctype html><title>Entries</title><link rel="icon" href="data:,">
<script type="module">
import { createClient } from '/client.js';
const started = performance.now();
const { user, version } = Object.fromEntries(new URLSearchParams(location.search));
const client = createClient({ user, auth: 'Bearer ' + user, schemaVersion: version });
const shown = version === 'whole'
  ? [client.view('whole')]
  : Array.from({ length: ${projects} }, (_, i) => client.view('entry', { listID: 'l' + i }));
const completed = (view) => new Promise((resolve) => {
  const stop = view.subscribe((rows, complete) => complete && resolve(performance.now() - started), { limit: 20 });
});
window.client = client;
window.complete = Promise.all(shown.map(completed)).then((times) => Math.max(...times));
</script>`;

declare global {
  interface Window {
    complete: Promise<number>;
  }
}

interface Cost {
  readonly firstMs: number;
  readonly reloadMs: number;
  readonly pulledKB: number;
  readonly heapMB: number;
  readonly storedMB: number;
}

async function measure(browser: Browser, url: string, version: keyof typeof names): Promise<Cost> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const pulls: ReturnType<Request['sizes']>[] = [];
  const onResponse = (response: Response) => {
    if (response.url().endsWith('/sync/pull')) pulls.push(response.request().sizes());
  };
  page.on('response', onResponse);
  await page.goto(`${url}/?user=ann&version=${version}`);
  const firstMs = await page.evaluate(() => window.complete);
  await page.waitForFunction(() => window.client.status.get().storage === 'saved', undefined, { timeout: 120_000 });
  const heapMB = await heapOf(page);
  const storedMB = await page.evaluate(async () => (await navigator.storage.estimate()).usage! / 1e6);
  page.off('response', onResponse);
  const sizes = await Promise.all(pulls);
  const pulledKB = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0) / 1000;
  await page.reload();
  const reloadMs = await page.evaluate(() => window.complete);
  await context.close();
  return { firstMs, reloadMs, pulledKB, heapMB, storedMB };
}

/** Returns the JavaScript heap after a garbage collection, in MB. */
async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

const names = { wanted: `${projects * perProject} rows wanted`, whole: `all ${rows} rows` };

const chromium = findChromium();
if (!chromium) {
  console.error(`This needs a browser: ${howToGetChromium}.`);
  process.exit(1);
}
const database = await startDatabase();
const server = await startClientServer(database, { html, input: clientInput, views });
// Locks need a secure context, and localhost is one.
const url = server.url.replace('127.0.0.1', 'localhost');
const browser = await launchChromium(chromium);
try {
  await database.pool.query(
    `insert into list (id, owner_id, name) select 'l' || i, 'ann', 'List ' || i from generate_series(0, $1::int) i`,
    [Math.floor(rows / perProject)],
  );
  await database.pool.query(
    `insert into todo (id, list_id, title, sort) select 't' || i, 'l' || i / $2::int, 'Todo ' || i, i from generate_series(0, $1::int - 1) i`,
    [rows, perProject],
  );
  await database.pool.query('vacuum analyze');
  for (const version of ['wanted', 'whole'] as const) {
    const costs: Cost[] = [];
    for (let turn = 0; turn < turns; turn++) costs.push(await measure(browser, url, version));
    const of = (field: keyof Cost) => median(costs.map((cost) => cost[field]));
    console.log(
      `${names[version].padEnd(20)} complete after ${of('firstMs').toFixed(0)} ms, after a reload ${of('reloadMs').toFixed(0)} ms; ` +
        `${of('pulledKB').toFixed(0)} kB pulled, ${of('heapMB').toFixed(1)} MB of heap, ${of('storedMB').toFixed(1)} MB stored`,
    );
  }
} finally {
  await browser.close();
  await server.close();
  await database.stop();
}
