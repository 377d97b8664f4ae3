import type { Locator, Page } from 'playwright-core';

/** The documentation page, from the point of view of a user who tries out a call. */
export interface Docs {
  readonly page: Page;
  authorize(token: string): Promise<void>;
  /** Opens an operation by its path. */
  open(path: string): Promise<Operation>;
}

export interface Operation {
  readonly section: Locator;
  readonly body: Locator;
  readonly status: Locator;
  readonly answer: Locator;
  /** Sends this body. */
  execute(body: unknown): Promise<void>;
}

export async function openDocs(page: Page, path: string): Promise<Docs> {
  await page.goto(path);
  await page.locator('.opblock').first().waitFor();
  return {
    page,
    async authorize(token) {
      await page.getByRole('button', { name: 'Authorize', exact: true }).first().click();
      const dialog = page.locator('.modal-ux');
      await dialog.getByRole('textbox').fill(token);
      await dialog.getByRole('button', { name: /^Apply|^Authorize/i }).click();
      await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    },
    async open(operationPath) {
      const section = page.locator('.opblock', { has: page.locator(`[data-path="${operationPath}"]`) });
      await section.locator('.opblock-summary-control').click();
      const body = section.locator('textarea.body-param__text');
      await body.waitFor();
      const live = section.locator('.live-responses-table');
      return {
        section,
        body,
        status: live.locator('.response-col_status').nth(1),
        answer: live.locator('.response-col_description .highlight-code code').first(),
        async execute(value) {
          await body.fill(JSON.stringify(value, null, 2));
          await section.getByRole('button', { name: 'Execute', exact: true }).click();
          await live.waitFor();
        },
      };
    },
  };
}
