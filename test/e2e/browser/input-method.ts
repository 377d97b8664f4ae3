/** An input method in Chromium, like those for Japanese or Chinese. */
import type { Locator, Page } from 'playwright-core';

/**
 * Composes a text in the focused field, and ends the composition with Enter. In most browsers, that key arrives during
 * the composition. In Safari, it arrives afterwards, with the code 229.
 */
export async function composeText(page: Page, field: Locator, text: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  await pressEnter(field, { isComposing: true });
  await session.send('Input.insertText', { text });
  await pressEnter(field, { keyCode: 229 });
  await session.detach();
}

/** Chromium has no input method that handles the key, so the test dispatches the event that one passes on. */
const pressEnter = (field: Locator, init: { readonly isComposing?: boolean; readonly keyCode?: number }) =>
  field.evaluate((element, options) => {
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...options }));
  }, init);
