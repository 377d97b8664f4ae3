/** The guides for frameworks, as a reader follows them: their code is built, and a page is rendered on the server. */
import { expect, it } from 'vitest';
import { builtGuide, installClient, next, tables, tanstackStart } from './guides.js';
import { timeoutMs, useHosts } from './hosts.js';

const rows = `
  insert into member values ('p1', 'ann'), ('p2', 'ben');
  insert into issue values ('i1', 'p1', 'The first issue'), ('i2', 'p1', 'The second issue'), ('i3', 'p2', 'A canary')`;
const hosts = useHosts(`${tables}; ${rows}`, installClient);

it.each([
  ['docs/nextjs.md', next],
  ['docs/tanstack-start.md', tanstackStart],
])(
  'the application of %s is built, and its first page has the rows that the user sees',
  async (_, guide) => {
    const serving = await hosts.serve(await builtGuide(guide, hosts.databaseURL));
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

    const read = await get('/tidemark/api/views/issue?projectID=p2', 'ben');
    expect(await read.json()).toEqual([{ id: 'i3', projectID: 'p2', title: 'A canary' }]);
  },
  timeoutMs,
);

/** The texts of the list items in a page. */
function itemsIn(html: string): string[] {
  return [...html.matchAll(/<li\b[^>]*>(.*?)<\/li>/g)].map(([, text]) => text!);
}
