/** The guides for frameworks, as a reader follows them: their code is built, and a page is rendered on the server. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { builtGuide, installClient, next, tables, tanstackStart } from './guides.js';
import { type Serving, serve } from './host.js';
import { install, uninstall } from './hosts.js';

/** A build takes long on a busy machine. */
const timeoutMs = 300_000;

let database: TestDatabase;
let serving: Serving | undefined;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(tables);
  await database.pool.query(`
    insert into member values ('p1', 'ann'), ('p2', 'ben');
    insert into issue values ('i1', 'p1', 'The first issue'), ('i2', 'p1', 'The second issue'), ('i3', 'p2', 'A canary')`);
  await install();
  installClient();
}, timeoutMs);

afterEach(async () => {
  serving?.child.kill('SIGKILL');
  await serving?.ended;
});

afterAll(async () => {
  uninstall();
  await database.drop();
});

it.each([
  ['docs/nextjs.md', next],
  ['docs/tanstack-start.md', tanstackStart],
])(
  'the application of %s is built, and its first page has the rows that the user sees',
  async (_, guide) => {
    serving = await serve(await builtGuide(guide, database.url), database.url);
    const { origin } = new URL(serving.url);
    const get = (path: string, user?: string) =>
      fetch(origin + path, { headers: user === undefined ? {} : { Cookie: `session=${user}` }, redirect: 'manual' });

    const page = await get('/projects/p1', 'ann');
    const html = await page.text();
    expect(page.status, html).toBe(200);
    expect(itemsIn(html)).toEqual(['The first issue', 'The second issue']);
    expect(itemsIn(await (await get('/projects/p1', 'ben')).text())).toEqual([]);
    const anonymous = await get('/projects/p1');
    expect([anonymous.status, anonymous.headers.get('Location')]).toEqual([307, '/sign-in']);

    const rows = await get('/tidemark/api/views/issue?projectID=p2', 'ben');
    expect(await rows.json()).toEqual([{ id: 'i3', projectID: 'p2', title: 'A canary' }]);
  },
  timeoutMs,
);

/** The texts of the list items in a page. */
function itemsIn(html: string): string[] {
  return [...html.matchAll(/<li\b[^>]*>(.*?)<\/li>/g)].map(([, text]) => text!);
}
