import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { type App, appIn } from './app.js';
import { type Watch, watch } from './watch.js';

/** A browser profile: its tabs share their data. */
export interface Profile {
  readonly context: BrowserContext;
  readonly watch: Watch;
  /** Opens a tab with a user's application. `prepare` is called before it loads. */
  app(user: string, prepare?: (page: Page) => Promise<unknown>): Promise<AppPage>;
  /** Opens a tab with the applications of Ann and Ben. */
  sideBySide(): Promise<{ readonly page: Page; readonly ann: App; readonly ben: App }>;
}

export type AppPage = App & { readonly page: Page };
export type ProfileOptions = BrowserContextOptions & { readonly baseURL: string };

const actionMs = 20_000;

export async function openProfile(browser: Browser, options: ProfileOptions): Promise<Profile> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(actionMs);
  return {
    context,
    watch: watch(context, options.baseURL),
    async app(user, prepare) {
      const page = await context.newPage();
      await prepare?.(page);
      await page.goto(`/?user=${user}`);
      return { page, ...appIn(page) };
    },
    async sideBySide() {
      const page = await context.newPage();
      await page.goto('/side-by-side');
      const section = (name: string) => appIn(page.getByRole('region', { name, exact: true }));
      return { page, ann: section('ann'), ben: section('ben') };
    },
  };
}
