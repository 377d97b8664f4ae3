/** Chromium with several browser profiles, each with several tabs, each with several clients. */
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { within } from '../../../packages/client/src/within.js';
import { builtClient, root } from '../../support/built.js';
import type { Ledger } from './ledger.js';
import type { PageEvent, PageSetup, PlatformFunction } from './page/setup.js';

/** The page that all tabs load. */
export async function pageFiles(): Promise<Record<string, [text: string, type: string]>> {
  const built = await rolldown({
    input: `${root}/test/stress/hostile/page/page.ts`,
    platform: 'browser',
    tsconfig: false,
    resolve: { alias: { '#engine': `${builtClient}/engine.js` }, extensionAlias: { '.js': ['.ts', '.js'] } },
  });
  const { code } = (await built.generate({ format: 'esm' })).output[0];
  const html =
    '<!doctype html><title>Hostile</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';
  return { '/': [html, 'text/html'], '/page.js': [code, 'text/javascript'] };
}

/** A browser profile, whose tabs share databases, locks and channels. */
export interface HostileProfile {
  readonly number: number;
  readonly users: readonly string[];
  /** The functions that its platform lacks. */
  readonly missing: readonly PlatformFunction[];
  readonly tabs: HostileTab[];
  clockOffsetMs: number;
}

/** The longest wait for a page's call stack, in milliseconds. */
const whereaboutsMs = 10_000;

export type TabSetup = Omit<PageSetup, 'missing' | 'clockOffsetMs' | 'storage'>;

/** A tab that can be closed, frozen and opened again. */
export class HostileTab {
  readonly profile: HostileProfile;
  readonly #context: BrowserContext;
  readonly #url: string;
  readonly #setup: TabSetup;
  readonly #ledger: Ledger;
  #page: Page | undefined;
  #session: CDPSession | undefined;
  /** True while an action on it is under way. */
  isBusy = false;

  constructor(profile: HostileProfile, context: BrowserContext, url: string, setup: TabSetup, ledger: Ledger) {
    this.profile = profile;
    this.#context = context;
    this.#url = url;
    this.#setup = setup;
    this.#ledger = ledger;
  }

  get slots(): number[] {
    return this.#setup.clients.map(({ slot }) => slot);
  }

  get users(): string[] {
    return this.#setup.clients.map(({ user }) => user);
  }

  get page(): Page {
    return this.#page!;
  }

  /** @param storage the first fault of the page's storage */
  async open(storage: PageSetup['storage'] = { fault: 'none', ms: 0 }): Promise<void> {
    const { missing, clockOffsetMs } = this.profile;
    const setup: PageSetup = { ...this.#setup, missing, clockOffsetMs, storage };
    this.#page = await this.#context.newPage();
    this.#session = await this.#context.newCDPSession(this.#page);
    await this.#page.goto(`${this.#url}/#${encodeURIComponent(JSON.stringify(setup))}`);
    await this.#untilLoaded();
  }

  /** Closes the tab as a user does, without any event in it. */
  async close(): Promise<void> {
    await this.page.close({ runBeforeUnload: false });
    this.#ledger.end(this.slots);
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.#untilLoaded();
  }

  /** Returns the call stack of a page that does not respond. */
  async whereabouts(): Promise<string> {
    const session = this.#session!;
    const paused = new Promise<string>((resolve) => {
      session.once('Debugger.paused', ({ callFrames }) =>
        resolve(
          `in ${callFrames.map(({ functionName, location }) => `${functionName}:${location.lineNumber}`).join(' < ')}`,
        ),
      );
    });
    await within(
      session.send('Debugger.enable').then(() => session.send('Debugger.pause')),
      whereaboutsMs,
    ).catch(() => {});
    return within(paused, whereaboutsMs).catch(() => 'which runs nothing');
  }

  /** With a timer, because hidden pages have no animation frames. */
  async #untilLoaded(): Promise<void> {
    await this.page.waitForFunction(() => window.hostile !== undefined, undefined, { polling: 100 });
  }

  async setFrozen(isFrozen: boolean): Promise<void> {
    await this.#session!.send('Page.setWebLifecycleState', { state: isFrozen ? 'frozen' : 'active' });
  }
}

export interface ProfileOptions {
  readonly clients: number;
  readonly missing: (profile: number) => readonly PlatformFunction[];
  readonly setup: Omit<TabSetup, 'clients'>;
  readonly url: string;
}

/** Five clients in each profile: those of one user in all three tabs, those of another user in two of them. */
const clientsPerProfile = 5;

/** Opens all tabs. Each user is in two profiles. */
export async function openProfiles(
  browser: Browser,
  { clients, missing, setup, url }: ProfileOptions,
  ledger: Ledger,
  onError: (slots: readonly number[], error: string) => void,
): Promise<HostileProfile[]> {
  const count = Math.ceil(clients / clientsPerProfile);
  const profiles: HostileProfile[] = [];
  for (let number = 0; number < count; number++) {
    const context = await browser.newContext();
    context.setDefaultTimeout(120_000);
    await context.exposeBinding('report', (_, event: PageEvent) => ledger.add(event, number));
    const users = [`user${number}`, `user${(number + 1) % count}`];
    const profile: HostileProfile = { number, users, missing: missing(number), tabs: [], clockOffsetMs: 0 };
    context.on('weberror', (error) =>
      onError(
        profile.tabs.flatMap(({ slots }) => slots),
        error.error().stack || `${error.error()}`,
      ),
    );
    for (let tab = 0; tab < 3; tab++) {
      const ofTab = (tab < 2 ? users : users.slice(0, 1)).map((user, i) => ({
        slot: number * clientsPerProfile + 2 * tab + i,
        user,
      }));
      profile.tabs.push(new HostileTab(profile, context, url, { ...setup, clients: ofTab }, ledger));
    }
    await Promise.all(profile.tabs.map((tab) => tab.open()));
    profiles.push(profile);
  }
  return profiles;
}
