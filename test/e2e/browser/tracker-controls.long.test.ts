/** Tests the issue tracker's keys, empty states, colours and widths. */
import { describe, expect } from 'vitest';
import { it } from './fixture.js';
import { empty, first, online, second, useTracker } from './tracker-fixture.js';
import type { Tracker } from './tracker-page.js';

const { visit, sql } = useTracker();

it('the keyboard does everything', async () => {
  const tracker = await visit(`/ann/${first}`);
  const { page, issue, panel } = tracker;
  await online(tracker);
  const selected = () => page.locator('.issue.selected .title').textContent();
  const press = (keys: string) => page.keyboard.press(keys);
  // The newest of the urgent ones come first.
  for (const [key, title] of [
    ['j', 'Test 3'],
    ['ArrowDown', 'Test 2'],
    ['j', 'Test 1'],
    ['k', 'Test 2'],
  ] as const) {
    await press(key);
    await expect.poll(selected).toBe(title);
  }
  await press('s');
  await press('d');
  await press('Enter');
  await expect.poll(() => sql("select status from issue where id = 'test-2'")).toEqual([{ status: 'done' }]);

  await press('k');
  await press('j');
  await press('Enter');
  await panel.waitFor();
  await press('Escape');
  await panel.waitFor({ state: 'detached' });

  await press('/');
  await page.keyboard.type('test 3');
  await issue('Test 1').waitFor({ state: 'detached' });
  await issue('Test 3').waitFor();
  await press('Enter');
  await press('Escape');
  await issue('Test 1').waitFor();

  await press('c');
  await page.keyboard.type('Test by keyboard');
  await press('Enter');
  await issue('Test by keyboard').waitFor();
  await press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await help.waitFor();
  await press('Escape');
  await help.waitFor({ state: 'detached' });
});

it('an empty project says so, and an unknown one too', async () => {
  const { page, issue } = await visit(`/ann/${empty}`);
  await page.getByRole('heading', { name: 'No issues yet' }).waitFor();
  await page.getByRole('button', { name: 'create the first issue' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Test of an empty project');
  await page.keyboard.press('Enter');
  await issue('Test of an empty project').waitFor();
  await page.goto('/ann/unknown');
  await page.getByRole('heading', { name: 'No such project' }).waitFor();
});

describe('the colours', () => {
  const ground = ({ page }: Tracker) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const [light, dark] = ['rgb(246, 247, 248)', 'rgb(13, 15, 17)'];

  it.each([
    ['light', light, dark],
    ['dark', dark, light],
  ] as const)('follow a system that is %s, until the user chooses the other', async (colorScheme, own, other) => {
    const tracker = await visit(`/ann/${first}`, { colorScheme });
    expect(await ground(tracker)).toBe(own);
    await online(tracker);
    await tracker.page.getByRole('button', { name: 'Light or dark' }).click();
    expect(await ground(tracker)).toBe(other);
    await tracker.page.reload();
    expect(await ground(tracker)).toBe(other);
  });
});

it('fits a narrow screen', async () => {
  const { page, project, issue, panel } = await visit(`/ann/${first}`, { viewport: { width: 390, height: 800 } });
  await page.getByRole('button', { name: 'Projects' }).click();
  await project(second).click();
  await page.getByRole('heading', { name: 'API' }).waitFor();
  await page.getByRole('button', { name: 'Projects' }).click();
  await project(first).click();
  await issue('Test 1').getByRole('link').click();
  await panel.getByRole('heading', { name: 'Test 1' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});
