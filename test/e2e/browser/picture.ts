/** Makes the README's picture: node --import tsx test/e2e/browser/picture.ts */
import { fileURLToPath } from 'node:url';
import { findChromium, howToGetChromium } from './chromium.js';
import { startDemo } from './demo.js';

const chromium = findChromium();
if (!chromium) {
  console.error(`This needs a browser: ${howToGetChromium}.`);
  process.exit(1);
}
const path = fileURLToPath(new URL('../../../docs/demo.png', import.meta.url));
const demo = await startDemo(chromium);
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
  await page.screenshot({ path });
  console.log(`Written to ${path}`);
} finally {
  await demo.stop();
}
