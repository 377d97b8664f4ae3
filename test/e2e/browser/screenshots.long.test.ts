import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect } from 'vitest';
import { it, useDemo } from './fixture.js';

const fixture = useDemo();

const file = (name: string) => fileURLToPath(new URL(`screenshots/${name}.png`, import.meta.url));

const screenshots: readonly (BrowserContextOptions & { readonly name: string })[] = [
  { name: 'light', colorScheme: 'light' },
  { name: 'dark', colorScheme: 'dark' },
  { name: 'narrow', viewport: { width: 360, height: 740 } },
];

describe('the screenshot', () => {
  for (const { name, ...options } of screenshots) {
    it(`${name} shows a page that fits its width`, async () => {
      const { app } = await fixture.profile(options);
      const { page, list, todo } = await app('ann');
      await list('Home').click();
      await todo('Clean the shelf').waitFor();
      await page.screenshot({ path: file(name) });
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });
  }

  it('side-by-side shows both applications', async () => {
    const { sideBySide } = await fixture.profile();
    const { page, ann, ben } = await sideBySide();
    for (const { list } of [ann, ben]) await list('Home').click();
    for (const { todo } of [ann, ben]) await todo('Clean the shelf').waitFor();
    await page.screenshot({ path: file('side-by-side') });
  });
});
