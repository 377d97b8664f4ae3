import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { openDocs } from './docs-page.js';
import { it, useDemo } from './fixture.js';

const { profile, sql } = useDemo();

it("Ann and Ben share a list, and each sees the other's changes immediately", async () => {
  const ann = await (await profile()).app('ann');
  const ben = await (await profile()).app('ben');
  await ann.list('Work').click();
  await ben.list('Garden').waitFor();
  expect(await ben.list('Work').count()).toBe(0);

  await ann.button('Share with ben').click();
  await ben.list('Work').click();
  await ben.todo('Write the offer').click();
  await ann.done('Write the offer').waitFor();
  await ann.newTodo.fill('Sign the offer');
  await ann.newTodo.press('Enter');
  await ben.todo('Sign the offer').waitFor();
  await ben.button('Delete Review the offer').click();
  await ann.todo('Review the offer').waitFor({ state: 'detached' });

  await ann.button('Stop sharing with ben').click();
  await ben.list('Work').waitFor({ state: 'detached' });
  await ben.todo('Write the offer').waitFor({ state: 'detached' });
});

it('a list is synced when it is opened or the pointer is over it, and is there without a network from then on', async () => {
  const { app, watch } = await profile();
  const { page, list, todo, offline, sync } = await app('ann');
  await todo('Clean the shelf').waitFor();
  /** The lists in the last pull that has been answered. */
  const synced = async () => {
    const pulls = watch.requestsTo('/sync/pull').filter((pull) => pull.timing().responseEnd > 0);
    const { wants } = pulls.at(-1)!.postDataJSON() as { wants: readonly { args: { listID: string } }[] };
    return wants.map(({ args }) => args.listID);
  };
  await expect.poll(synced).toEqual(['ann-home']);
  await list('Work').hover();
  await expect.poll(synced).toEqual(['ann-home', 'ann-work']);

  await offline.click();
  await expect.poll(() => sync.getAttribute('data-state')).toBe('offline');
  await list('Work').click();
  await todo('Review the manual').waitFor();
  await list('Garden').click();
  await page.getByText('The todos of this list are not in this browser yet.').waitFor();
  await offline.click();
  await todo('Plant the roses').waitFor();
});

it('rows written with SQL appear on both screens', async () => {
  const ann = await (await profile()).app('ann');
  const ben = await (await profile()).app('ben');
  for (const { list } of [ann, ben]) await list('Home').click();
  for (const { todo } of [ann, ben]) await todo('Clean the shelf').waitFor();
  await sql("update todo set title = 'Dust the shelf' where title = 'Clean the shelf'");
  for (const { todo } of [ann, ben]) await todo('Dust the shelf').waitFor();
  await sql("insert into list (id, owner_id, name) values ('ben-new', 'ben', 'Written by SQL')");
  await ben.list('Written by SQL').waitFor();
  expect(await ann.list('Written by SQL').count()).toBe(0);
});

it('one page shows both applications side by side', async () => {
  const { ann, ben } = await (await profile()).sideBySide();
  for (const { list } of [ann, ben]) await list('Trip').click();
  await ann.todo('Book the tent').click();
  await ben.done('Book the tent').waitFor();
  await ben.newList.fill("Ben's list");
  await ben.newList.press('Enter');
  await ben.list("Ben's list").waitFor();
  expect(await ann.list("Ben's list").count()).toBe(0);
});

it('the page has a strict content security policy', async () => {
  const { page, list } = await (await profile()).app('ann');
  await list('Home').waitFor();
  const policy = (await page.request.get('/')).headers()['content-security-policy'];
  expect(policy).toMatch(/default-src '(self|none)'/);
  expect(policy).not.toMatch(/unsafe|\*/);
});

it('a todo that Ann creates on the documentation page appears in her application', async () => {
  const ann = await (await profile()).app('ann');
  await ann.list('Home').click();
  const lists = await sql<{ id: string }>("select id from list where owner_id = 'ann' and name = 'Home'");

  const { context } = await profile();
  const docs = await openDocs(await context.newPage(), '/api/docs');
  await docs.authorize('ann');
  const operation = await docs.open('/api/mutators/todo/create');
  await operation.execute({ id: randomUUID(), listID: lists[0]!.id, title: 'Read the documentation', sort: 0 });
  await expect.poll(() => operation.status.textContent()).toMatch(/^200/);
  expect(JSON.parse((await operation.answer.textContent())!)).toMatchObject({ ok: true });
  await ann.todo('Read the documentation').waitFor();
});
