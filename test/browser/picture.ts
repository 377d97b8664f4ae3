/** Makes the README's picture: npm run picture */
import { fileURLToPath } from 'node:url';
import { findChromium, howToGetChromium } from './chromium.js';
import { startDemo } from './demo.js';

const chromium = findChromium();
if (!chromium) {
  console.error(`This needs a browser: ${howToGetChromium}.`);
  process.exit(1);
}
const path = fileURLToPath(new URL('../../docs/demo.png', import.meta.url));
const demo = await startDemo(chromium);
try {
  const { sideBySide } = await demo.profile({ deviceScaleFactor: 2, colorScheme: 'light' });
  const { page, ann, ben } = await sideBySide();
  await ann.list('Work').click();
  await ann.button('Share with ben').click();
  await ben.list('Work').click();
  await ben.todo('Write the offer').click();
  await ann.todo('Translate the offer').click();
  for (const { done } of [ann, ben]) {
    for (const title of ['Write the offer', 'Translate the offer']) await done(title).waitFor();
  }
  await ben.offline.click();
  await ben.todo('Shorten the offer').click();
  await ben.done('Shorten the offer').waitFor();
  await page.screenshot({ path });
  console.log(`Written to ${path}`);
} finally {
  await demo.stop();
}
