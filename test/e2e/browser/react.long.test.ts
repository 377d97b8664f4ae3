import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect } from 'vitest';
import type { Treatment } from '../../stress/hostile/proxy.js';
import { type Tab, useClientPages } from './client-page.js';
import { it } from './fixture.js';
import type { Shown } from './react-page.tsx';
import { reactViews } from './react-views.js';

const pages = useClientPages({
  html: `<!doctype html><title>React</title><link rel="icon" href="data:,"><main></main>
    <script type="module" src="/client.js"></script>`,
  input: fileURLToPath(new URL('react-page.tsx', import.meta.url)),
  views: reactViews,
});
let tab: Tab;

beforeEach(async () => {
  await pages.pool?.query(`
    delete from list; delete from tidemark.refusal;
    insert into list (id, owner_id, name) values ('a', 'ann', 'Garden'), ('b', 'ann', 'Shopping'), ('c', 'ben', 'Tools');
    insert into todo (id, list_id, title, sort) values ('1', 'a', 'Roses', 1), ('2', 'b', 'Milk', 2), ('3', 'b', 'Oats', 3)`);
  tab = await (await pages.profile()).tab('ann');
  await expect.poll(tab.lists).toEqual(['Garden', 'Shopping']);
  await expect.poll(tab.status).toBe('online 0');
});

const show = (shown: Omit<Shown, 'user'>, user = 'ann') =>
  tab.page.evaluate((all) => window.show(all), { user, ...shown });
const sections = () => tab.page.locator('section').allTextContents();
const renders = () => tab.page.evaluate(() => window.rendered.length);

describe('a view', () => {
  it('is undefined until it is read, then its rows, and never the rows of previous options', async () => {
    await show({ listID: 'a' });
    await expect.poll(sections).toEqual(['Roses', 'Roses']);
    await show({ listID: 'b' });
    await expect.poll(sections).toEqual(['Milk,Oats', 'Milk,Oats']);
    const rendered = await tab.page.evaluate(() =>
      window.rendered.map(({ id, rows }) => [id, Array.isArray(rows) ? rows.map(({ listID }) => listID) : rows]),
    );
    expect(new Set(rendered.map((each) => JSON.stringify(each)))).toEqual(
      new Set(['["a",null]', '["a",["a"]]', '["b",null]', '["b",["b","b"]]']),
    );
  });

  it('renders again only when its rows change, even if its options are new objects each time', async () => {
    await show({ listID: 'b' });
    await expect.poll(sections).toEqual(['Milk,Oats', 'Milk,Oats']);
    const before = await renders();
    await tab.page.getByRole('button').click();
    await pages.pool.query("update todo set title = 'Red roses' where id = '1'");
    await expect
      .poll(() => tab.page.evaluate(async () => (await window.client.view('todo').get('1'))?.title))
      .toBe('Red roses');
    await expect.poll(tab.lists).toEqual(['Garden', 'Shopping', 'Pressed']);
    expect(await renders()).toBe(before);

    await show({ listID: 'b' });
    await pages.pool.query("update todo set title = 'Oat milk' where id = '3'");
    await expect.poll(sections).toEqual(['Milk,Oat milk', 'Milk,Oat milk']);
    const different = await tab.page.evaluate(
      (skipped) => new Set(window.rendered.slice(skipped).map(({ rows }) => rows)).size,
      before,
    );
    expect(different).toBe(2);
  });

  it('shares one subscription and one array among components with equal options until the last unmounts', async () => {
    expect(await tab.page.evaluate(() => window.subscriptions)).toBe(1);
    await show({ listID: 'b' });
    await expect.poll(sections).toEqual(['Milk,Oats', 'Milk,Oats']);
    expect(await tab.page.evaluate(() => window.subscriptions)).toBe(2);
    const last = await tab.page.evaluate(() => {
      const of = (name: string) => window.rendered.findLast(({ component }) => component === name)!.rows;
      return of('first') === of('second');
    });
    expect(last).toBe(true);
    await show({ listID: 'a', todoID: '1' });
    await expect.poll(sections).toEqual(['Roses', 'Roses', 'Roses']);
    expect(await tab.page.evaluate(() => window.subscriptions)).toBe(3);
    await show({});
    await expect.poll(sections).toEqual([]);
    expect(await tab.page.evaluate(() => window.subscriptions)).toBe(1);

    await pages.pool.query("update todo set title = 'Red roses' where id = '1'");
    await expect
      .poll(() => tab.page.evaluate(async () => (await window.client.view('todo').get('1'))?.title))
      .toBe('Red roses');
    await show({ listID: 'a' });
    await expect.poll(sections).toEqual(['Red roses', 'Red roses']);
  });
});

describe('the initial rows of a view', () => {
  const initial = [{ id: 'a', name: 'Rendered', ownerID: 'ann' }];
  const rendered = () =>
    tab.page.evaluate(() =>
      window.rendered.map(({ rows }) => rows && [rows].flat().map((row) => 'name' in row && row.name)),
    );

  it.each(['useView', 'useSuspenseView'] as const)('of %s stay until the server has answered', async (names) => {
    const profile = await pages.profile();
    profile.setSyncing(false);
    tab = await profile.tab('ann');
    await show({ names, initial });
    await expect.poll(sections).toEqual(['Rendered']);
    await expect.poll(tab.status).toMatch(/^offline/);
    expect(await sections()).toEqual(['Rendered']);
    profile.setSyncing(true);
    await tab.page.evaluate(() => window.client.pull());
    await expect.poll(sections).toEqual(['Garden,Shopping']);
    const different = new Set((await rendered()).map((rows) => JSON.stringify(rows)));
    expect([...different]).toEqual(['["Rendered"]', '["Garden","Shopping"]']);
  });

  /** Opens a tab of a profile that has stored the lists before, with this treatment of its requests. */
  async function returning(treatment: Treatment): Promise<void> {
    const profile = await pages.profile();
    tab = await profile.tab('ann');
    await expect.poll(tab.lists).toEqual(['Garden', 'Shopping']);
    await expect.poll(() => tab.page.evaluate(() => window.client.status.get().storage)).toBe('saved');
    await tab.page.close();
    await pages.pool.query("update list set name = 'Yard' where id = 'a'");
    profile.setSyncing(false);
    profile.treat('/sync/', treatment);
    tab = await profile.tab('ann');
    await expect.poll(tab.lists).toEqual(['Garden', 'Shopping']);
  }

  it.each(['useView', 'useSuspenseView'] as const)('of %s show instead of those of an earlier visit', async (names) => {
    await returning({ kind: 'delay', ms: 2_000 });
    await show({ names, initial });
    await expect.poll(sections).toEqual(['Rendered']);
    await expect.poll(sections).toEqual(['Yard,Shopping']);
    const different = new Set((await rendered()).map((rows) => JSON.stringify(rows)));
    expect([...different]).toEqual(['["Rendered"]', '["Yard","Shopping"]']);
  });

  it('give way to the rows of an earlier visit if the server cannot be reached', async () => {
    await returning({ kind: 'reset request' });
    await show({ names: 'useView', initial });
    await expect.poll(sections).toEqual(['Garden,Shopping']);
  });

  it.each([
    [
      'a new',
      async () => {
        const profile = await pages.profile();
        profile.treat('/sync/', { kind: 'delay', ms: 3_000 });
        tab = await profile.tab('ann');
      },
    ],
    ['a known', () => returning({ kind: 'delay', ms: 3_000 })],
  ])('show the user’s changes in %s browser before the server has answered', async (_, open) => {
    await open();
    await show({ names: 'useView', initial });
    await expect.poll(sections).toEqual(['Rendered']);
    await tab.page.getByRole('button').click();
    await expect.poll(sections, { timeout: 1_500 }).toEqual(['Rendered,Pressed']);
    await expect.poll(sections).toEqual([expect.stringMatching(/^(Garden|Yard),Shopping,Pressed$/)]);
    expect(new Set((await rendered()).map((rows) => JSON.stringify(rows))).size).toBe(3);
    await expect.poll(tab.status).toBe('online 0');
  });

  it('give way to the answer that there are none', async () => {
    await pages.pool.query('delete from list');
    tab = await (await pages.profile()).tab('ann');
    await show({ names: 'useView', initial });
    await expect.poll(sections).toEqual(['no lists']);
  });

  it.each(['useView', 'useSuspenseView'] as const)('of %s are what React hydrates', async (names) => {
    const html = await tab.page.evaluate((shown) => window.hydrate(shown), { user: 'ann', names, initial });
    expect(html).toContain('<section>Rendered</section>');
    await expect.poll(sections).toEqual(['Garden,Shopping']);
    expect(await tab.page.evaluate(() => window.recovered)).toEqual([]);
    expect((await rendered()).slice(0, 2)).toEqual([['Rendered'], ['Rendered']]);
  });

  it('are not shown after a sign-out', async () => {
    const profile = await pages.profile();
    profile.setSyncing(false);
    tab = await profile.tab('ann');
    await show({ names: 'useView', initial });
    await expect.poll(sections).toEqual(['Rendered']);
    await tab.page.evaluate(() => void window.client.signOut());
    await expect.poll(sections, { timeout: 1_000 }).toEqual(['no lists']);
  });
});

describe('a suspended component', () => {
  it('shows its fallback until the server has answered, and then keeps one subscription', async () => {
    const profile = await pages.profile();
    profile.setSyncing(false);
    tab = await profile.tab('ann');
    await show({ names: 'useSuspenseView' });
    await expect.poll(sections).toEqual(['suspended']);
    await expect.poll(tab.status).toMatch(/^offline/);
    expect(await sections()).toEqual(['suspended']);
    profile.setSyncing(true);
    await tab.page.evaluate(() => window.client.pull());
    await expect.poll(sections).toEqual(['Garden,Shopping']);
    expect(await tab.page.evaluate(() => window.subscriptions)).toBe(2);
    await pages.pool.query("update list set name = 'Yard' where id = 'a'");
    await expect.poll(sections).toEqual(['Yard,Shopping']);
  });

  it('shows that there are no rows, once the server has answered', async () => {
    await pages.pool.query('delete from list');
    tab = await (await pages.profile()).tab('ann');
    await show({ names: 'useSuspenseView' });
    await expect.poll(sections).toEqual(['no lists']);
  });

  it('continues without rows when the user signs out', async () => {
    const profile = await pages.profile();
    profile.setSyncing(false);
    tab = await profile.tab('ann');
    await show({ names: 'useSuspenseView' });
    await expect.poll(sections).toEqual(['suspended']);
    await tab.page.evaluate(() => void window.client.signOut());
    await expect.poll(sections, { timeout: 1_000 }).toEqual(['no lists']);
  });

  it('lets go of its subscription if it is removed before the rows arrive', async () => {
    const profile = await pages.profile();
    profile.setSyncing(false);
    tab = await profile.tab('ann');
    await show({ names: 'useSuspenseView' });
    await expect.poll(sections).toEqual(['suspended']);
    await show({});
    expect(await tab.page.evaluate(() => window.subscriptions)).toBe(2);
    profile.setSyncing(true);
    await tab.page.evaluate(() => window.client.pull());
    await expect.poll(tab.lists).toEqual(['Garden', 'Shopping']);
    await expect.poll(() => tab.page.evaluate(() => window.subscriptions), { timeout: 20_000 }).toBe(1);
  });
});

describe('a view with arguments', () => {
  it('has the rows for its arguments, and never those for others', async () => {
    await show({ entriesOf: 'a' });
    await expect.poll(sections).toEqual(['Roses']);
    await show({ entriesOf: 'b' });
    await expect.poll(sections).toEqual(['Milk,Oats']);
    const mixed = await tab.page.evaluate(() =>
      window.rendered.filter(({ id, rows }) => [rows ?? []].flat().some((row) => 'listID' in row && row.listID !== id)),
    );
    expect(mixed).toEqual([]);
    await pages.pool.query("update todo set title = 'Oat milk' where id = '3'");
    await expect.poll(sections).toEqual(['Milk,Oat milk']);
  });

  it('shows rows that it had within its ttl, without the server', async () => {
    const profile = await pages.profile();
    tab = await profile.tab('ann');
    await show({ entriesOf: 'a' });
    await expect.poll(sections).toEqual(['Roses']);
    await show({});
    profile.setSyncing(false);
    await show({ entriesOf: 'a' });
    await expect.poll(sections).toEqual(['Roses']);
    await show({ entriesOf: 'b' });
    await expect.poll(sections).toEqual(['no entries …']);
    profile.setSyncing(true);
    await expect.poll(sections).toEqual(['Milk,Oats']);
  });

  it('says why the server refuses its arguments', async () => {
    const profile = await pages.profile();
    profile.watch.allow(/is not synced \(invalid-args\)/);
    tab = await profile.tab('ann');
    await show({ entriesOf: 'longer than twenty characters' });
    await expect.poll(sections).toEqual(['invalid-args']);
  });
});

it('a row is undefined until it is read, and null if it does not exist', async () => {
  await show({ todoID: '3' });
  await expect.poll(sections).toEqual(['Oats']);
  await pages.pool.query("delete from todo where id = '3'");
  await expect.poll(sections).toEqual(['none']);
  const rendered = await tab.page.evaluate(() =>
    window.rendered.map(({ rows }) => (rows && 'title' in rows ? rows.title : String(rows))),
  );
  expect([...new Set(rendered)]).toEqual(['undefined', 'Oats', 'null']);
});

it('the page shows pending and refused mutations and the state of the connection', async () => {
  const profile = await pages.profile();
  tab = await profile.tab('ann');
  await expect.poll(tab.status).toBe('online 0');
  await profile.setOffline(true);
  await tab.page.getByRole('button').click();
  await expect.poll(tab.status).toBe('offline 1');
  expect(await tab.lists()).toEqual(['Garden', 'Shopping', 'Pressed']);
  await profile.setOffline(false);
  await expect.poll(tab.status).toBe('online 0');
  await tab.create('a', 'Of an ID that is taken');
  await expect.poll(() => tab.page.getByRole('alert').textContent()).toBe('A list with this ID already exists');
});

it('all hooks follow the provider to the client of another user', async () => {
  await show({ listID: 'c' }, 'ben');
  await expect.poll(tab.lists).toEqual(['Tools']);
  await show({ listID: 'a' });
  await expect.poll(sections).toEqual(['Roses', 'Roses']);
  expect(await tab.lists()).toEqual(['Garden', 'Shopping']);
});

it('all hooks are empty within a second of a sign-out, in all tabs', async () => {
  const profile = await pages.profile();
  const tabs = [await profile.tab('ann'), await profile.tab('ann')];
  const shown = () =>
    Promise.all(tabs.map(({ page }) => page.locator('section, li, output, [role=alert]').allTextContents()));
  for (const { page } of tabs) await page.evaluate(() => window.show({ user: 'ann', listID: 'b', todoID: '1' }));
  await tabs[0]!.create('a', 'Of an ID that is taken');
  const refused = 'A list with this ID already exists';
  const rows = ['Milk,Oats', 'Milk,Oats', 'Roses'];
  const before = ['Garden', 'Shopping', 'online 0', refused, ...rows];
  await expect.poll(shown).toEqual([before, before]);
  profile.setSyncing(false);
  for (const { page } of tabs) await page.getByRole('button').click();
  for (const { status } of tabs) await expect.poll(status).toMatch(/ [12]$/);

  await tabs[0]!.page.evaluate(() => void window.client.signOut());
  const after = ['closed 0', '', '', '', 'none'];
  await expect.poll(shown, { timeout: 1_000 }).toEqual([after, after]);
});
