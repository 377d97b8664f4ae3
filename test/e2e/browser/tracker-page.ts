/** The example's issue tracker on a page, located by what assistive technology finds. */
import type { Locator, Page, Response } from 'playwright-core';

export interface Tracker {
  readonly page: Page;
  readonly issues: Locator;
  issue(title: string): Locator;
  /** The button in the issue's row that shows and changes a field. */
  field(title: string, name: 'Status' | 'Priority' | 'Assignee'): Locator;
  project(id: string): Locator;
  readonly panel: Locator;
  readonly search: Locator;
  readonly sync: Locator;
  /** The number of issues in the browser, as the page shows it. */
  issuesHere(): Promise<number>;
}

export function trackerOn(page: Page): Tracker {
  const issues = page.getByRole('list', { name: 'Issues' });
  const issue = (title: string) => issues.getByRole('listitem').filter({ hasText: title });
  return {
    page,
    issues,
    issue,
    field: (title, name) => issue(title).getByRole('button', { name: new RegExp(`^${name}: `) }),
    project: (id) => page.locator(`[data-project="${id}"]`),
    panel: page.getByRole('region', { name: 'Issue', exact: true }),
    search: page.getByRole('searchbox', { name: 'Search issues' }),
    sync: page.getByRole('status', { name: 'Sync' }),
    async issuesHere() {
      const text = await page.locator('.here b').textContent();
      return Number(text!.replaceAll(',', ''));
    },
  };
}

declare global {
  interface Window {
    /** The rows of issues since the first ones have appeared: the lowest number, and the first one. */
    rows: { fewest: number; first: Element | null };
  }
}

/** Observes the list of issues from before the page loads. */
export function observeRows(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    window.rows = { fewest: Number.POSITIVE_INFINITY, first: null };
    new MutationObserver(() => {
      const found = document.querySelectorAll('.issue');
      window.rows.first ??= found[0] ?? null;
      if (window.rows.first) window.rows.fewest = Math.min(window.rows.fewest, found.length);
    }).observe(document, { childList: true, subtree: true });
  });
}

/** The rows of a view in all answers to pulls, by their keys. */
export async function pulledRows(responses: readonly Response[], view: string): Promise<Map<string, object>> {
  const rows = new Map<string, object>();
  for (const response of responses) {
    const { patch = [] } = (await response.json()) as { patch?: { op: string; key?: string; value?: object }[] };
    for (const { op, key, value } of patch) if (op === 'put' && key!.startsWith(`${view}/`)) rows.set(key!, value!);
  }
  return rows;
}
