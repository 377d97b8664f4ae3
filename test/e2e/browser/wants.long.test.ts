/** Tabs of one profile that show different instances of a view, online and offline. */
import type { Page } from 'playwright-core';
import { beforeEach, expect } from 'vitest';
import { z } from 'zod';
import { views as exampleViews } from '../../../examples/tasks/src/views.js';
import { defineView, sql } from '../../../packages/tidemark/src/index.js';
import { useClientPages } from './client-page.js';
import { clientInput } from './client-server.js';
import { it } from './fixture.js';

const views = {
  ...exampleViews,
  entry: defineView({
    args: z.object({ listID: z.string() }),
    query: ({ ctx, args }) => sql<{ id: string; listID: string; title: string }>`
      select t.id, t.list_id as "listID", t.title from todo t join list l on l.id = t.list_id
      where t.list_id = ${args.listID} and l.owner_id = ${ctx.userID}`,
    key: 'id',
  }),
};

/** Shows the entries of the list that the URL names as its version. */
const html = `<!doctype html><title>Entries</title><link rel="icon" href="data:,">
<ul></ul><output></output>
<script type="module">
import { createClient } from '/client.js';
const { user, version: listID } = Object.fromEntries(new URLSearchParams(location.search));
const client = createClient({
  user, auth: 'Bearer ' + user,
  mutators: { todo: { create: (tx, { id, listID, title }) => tx.view('entry').set(id, { id, listID, title }) } },
});
window.client = client;
client.view('entry', { listID }).subscribe((rows, complete) => {
  document.querySelector('ul').replaceChildren(...rows.map(({ title }) => {
    const item = document.createElement('li');
    item.textContent = title;
    return item;
  }));
  document.querySelector('output').textContent = complete ? 'complete' : 'incomplete';
});
</script>`;

const pages = useClientPages({ html, input: clientInput, views });
const run = (text: string) => pages.pool.query(text);

interface EntryClient {
  readonly mutate: { readonly todo: { create(args: object): Promise<void> & { readonly confirmed: Promise<void> } } };
  view(name: 'entry'): { list(): Promise<readonly { id: string; listID: string }[]> };
}

const titles = (page: Page) => page.getByRole('listitem').allTextContents();
const state = (page: Page) => page.getByRole('status').textContent();
/** The lists of the entries that a tab holds, whatever it shows. */
const heldLists = (page: Page) =>
  page.evaluate(async () => {
    const rows = await (window.client as unknown as EntryClient).view('entry').list();
    return [...new Set(rows.map(({ listID }) => listID))].sort();
  });
const create = (page: Page, args: object) =>
  page.evaluate((todo) => (window.client as unknown as EntryClient).mutate.todo.create(todo), args);

beforeEach(async () => {
  await pages.pool?.query(`
    delete from todo; delete from list;
    insert into list (id, owner_id, name) select l, 'ann', l from unnest(array['a', 'b', 'c', 'd']) l;
    insert into todo (id, list_id, title, sort) select l || n, l, l || ' ' || n, n from unnest(array['a', 'b', 'c', 'd']) l, generate_series(1, 3) n`);
});

it('three tabs show different lists, offline and after a reload too, and hold no others', async () => {
  const profile = await pages.profile();
  const tabs: { readonly list: string; readonly page: Page }[] = [];
  for (const list of ['a', 'b', 'c']) tabs.push({ list, page: (await profile.tab('ann', list)).page });
  for (const { list, page } of tabs) {
    await expect.poll(() => titles(page)).toEqual([`${list} 1`, `${list} 2`, `${list} 3`]);
    await expect.poll(() => state(page)).toBe('complete');
  }
  await run(`update todo set title = upper(title) where id like '%2'`);
  for (const { list, page } of tabs) await expect.poll(() => titles(page)).toContain(`${list.toUpperCase()} 2`);
  // Tabs do not take the rows of other tabs from each other, and nobody wants the list d.
  for (const { page } of tabs) await expect.poll(() => heldLists(page)).toEqual(['a', 'b', 'c']);

  // The data has been saved once another tab starts with it.
  profile.setSyncing(false);
  await run(`update todo set title = lower(title)`);
  await create(tabs[0]!.page, { id: 'a4', listID: 'a', title: 'a 4', sort: 4 });
  await expect.poll(() => titles(tabs[0]!.page)).toContain('a 4');
  await tabs[0]!.page.waitForTimeout(2_000);
  for (const { page } of tabs) await page.reload();
  for (const { list, page } of tabs) {
    await expect.poll(() => titles(page)).toContain(`${list.toUpperCase()} 2`);
    expect(await state(page)).toBe('complete');
  }
  expect(await titles(tabs[0]!.page)).toContain('a 4');

  profile.setSyncing(true);
  await expect.poll(async () => (await run(`select from todo where id = 'a4'`)).rowCount).toBe(1);
  for (const { list, page } of tabs) await expect.poll(() => titles(page)).toContain(`${list} 2`);
  for (const { page } of tabs) await expect.poll(() => heldLists(page)).toEqual(['a', 'b', 'c']);
});

it('a tab that opens a list without a connection shows it once there is one', async () => {
  const profile = await pages.profile();
  const { page: first } = await profile.tab('ann', 'a');
  await expect.poll(() => state(first)).toBe('complete');
  profile.setSyncing(false);
  const { page } = await profile.tab('ann', 'b');
  await expect.poll(() => state(page)).toBe('incomplete');
  expect(await titles(page)).toEqual([]);
  profile.setSyncing(true);
  await expect.poll(() => titles(page)).toEqual(['b 1', 'b 2', 'b 3']);
  expect(await state(page)).toBe('complete');
  expect(await titles(first)).toEqual(['a 1', 'a 2', 'a 3']);
});
