/** Makes the README's pictures, all or those named: node --import tsx test/e2e/browser/picture.ts tracker */
import { fileURLToPath } from 'node:url';
import { trackerMain } from '../../support/built.js';
import { createDataFolder, startExample } from '../example/example.js';
import { findChromium, howToGetChromium, launchChromium } from './chromium.js';
import { startDemo } from './demo.js';
import { trackerOn } from './tracker-page.js';

const chromium = findChromium();
if (!chromium) {
  console.error(`This needs a browser: ${howToGetChromium}.`);
  process.exit(1);
}
const pathOf = (name: string) => fileURLToPath(new URL(`../../../docs/${name}.png`, import.meta.url));

async function takeTracker(executablePath: string): Promise<void> {
  const folder = createDataFolder();
  const example = await startExample({ TIDEMARK_DATA: folder.path }, [trackerMain]);
  const browser = await launchChromium(executablePath, ['--font-render-hinting=none']);
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 880 }, colorScheme: 'dark' });
    await page.goto(`${example.url}/ann/accounts-web-app`);
    const { issue, panel, sync } = trackerOn(page);
    await sync.getByText('online', { exact: true }).waitFor();
    await issue('Add undo to bulk edits in the address form').getByRole('link').click();
    await panel.getByRole('list', { name: 'Comments' }).getByRole('listitem').first().waitFor();
    await sync.getByText('online', { exact: true }).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.screenshot({ path: pathOf('tracker') });
  } finally {
    await browser.close();
    await example.stop();
    await folder.remove();
  }
}

async function takeDemo(executablePath: string): Promise<void> {
  const demo = await startDemo(executablePath);
  try {
    const { sideBySide } = await demo.profile({ deviceScaleFactor: 2, colorScheme: 'light' });
    const { page, ann, ben } = await sideBySide();
    await ann.list('Work').click();
    await ann.button('Share with ben').click();
    await ben.list('Work').click();
    for (const [{ todo }, title] of [
      [ben, 'Write the offer'],
      [ann, 'Translate the offer'],
    ] as const) {
      await todo(title).click();
      for (const { done } of [ann, ben]) await done(title).waitFor();
    }
    await ben.offline.click();
    await ben.todo('Shorten the offer').click();
    await ben.done('Shorten the offer').waitFor();
    await ben.sync.getByText('1 pending').waitFor();
    await ann.sync.getByText('0 pending').waitFor();
    await page.mouse.move(0, 0);
    await page.screenshot({ path: pathOf('demo') });
  } finally {
    await demo.stop();
  }
}

const pictures: Readonly<Record<string, (executablePath: string) => Promise<void>>> = {
  demo: takeDemo,
  tracker: takeTracker,
};
const chosen = process.argv.slice(2);
for (const [name, take] of Object.entries(pictures)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  await take(chromium);
  console.log(`Written to ${pathOf(name)}`);
}
