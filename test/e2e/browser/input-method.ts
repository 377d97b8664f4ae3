/** An input method, as those for Japanese or Chinese, in Chromium. */
import type { Locator, Page } from 'playwright-core';

/**
 * Composes a text in a field that has the focus, and ends the composition with Enter: as in most browsers, where that key
 * comes while the text is being composed, and as in Safari, where it comes afterwards with the code 229.
 */
export async function composeText(page: Page, field: Locator, text: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  await pressEnter(field, { isComposing: true });
  await session.send('Input.insertText', { text });
  await pressEnter(field, { keyCode: 229 });
  await session.detach();
}

/** Chromium has no input method that takes the key, so the page gets the event that one leaves it. */
const pressEnter = (field: Locator, init: { readonly isComposing?: boolean; readonly keyCode?: number }) =>
  field.evaluate((element, options) => {
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...options }));
  }, init);
