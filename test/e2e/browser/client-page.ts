/** A page of `@tidemark/client` for Chromium, served by the example's server in this process. */
import type pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import type { TasksClient } from '../../integration/client/application.js';
import { type HostileProxy, openProxy, pass, type Treatment } from '../../stress/hostile/proxy.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { launchChromium } from './chromium.js';
import { type ClientPage, type ClientServer, clientInput, startClientServer } from './client-server.js';
import { type Watch, watch } from './watch.js';

declare global {
  interface Window {
    client: TasksClient;
  }
}

/** Shows a user's lists, the state of the client, and refused mutations. */
const html = `<!doctype html><title>Lists</title><link rel="icon" href="data:,">
<ul></ul><output></output><p role="alert"></p>
<script type="module">
import { createClient } from '/client.js';
const { user, version } = Object.fromEntries(new URLSearchParams(location.search));
const client = createClient({
  user, auth: 'Bearer ' + user, schemaVersion: version,
  mutators: { list: { create: (tx, { id, name }) => tx.view('list').set(id, { id, name, ownerID: user }) } },
});
const show = (selector, text) => { document.querySelector(selector).textContent = text; };
client.view('list').subscribe((lists) => document.querySelector('ul').replaceChildren(...lists.map(({ name }) => {
  const item = document.createElement('li');
  item.textContent = name;
  return item;
})));
const status = () => {
  const { state, error, outdated } = client.status.get();
  show('output', [state, error?.code, outdated && 'outdated', String(client.pending.get().length)].filter(Boolean).join(' '));
};
client.status.subscribe(status);
client.pending.subscribe(status);
status();
client.onRefused(({ clientID, detail }) => clientID === client.clientID && show('p', detail));
window.client = client;
</script>`;

export interface Tab {
  readonly page: Page;
  /** The names of the lists on the page. */
  lists(): Promise<string[]>;
  /** The client's state, as the page shows it. */
  status(): Promise<string | null>;
  create(id: string, name: string): Promise<void>;
}

/** A browser profile. */
export interface ClientProfile {
  readonly watch: Watch;
  /** @param prepare called before the page loads */
  tab(user: string, version?: string, prepare?: (page: Page) => Promise<unknown>): Promise<Tab>;
  /** Disconnects the tabs from the server, except for loading the page, or connects them again. */
  setSyncing(syncing: boolean): void;
  /** Makes the proxy treat the tabs' requests below this path differently. */
  treat(path: string, treatment: Treatment): void;
  readonly setOffline: (offline: boolean) => Promise<void>;
}

export interface ClientPages {
  readonly pool: pg.Pool;
  profile(): Promise<ClientProfile>;
}

/** @param page default: one that uses nothing but `@tidemark/client` */
export function useClientPages(page: ClientPage = { html, input: clientInput }): ClientPages {
  const chromium = inject('chromium');
  let browser: Browser;
  let database: TestDatabase;
  let server: ClientServer;
  let proxy: HostileProxy;
  let url: string;
  let profiles = 0;
  /** The treatment of a profile's requests, by the beginnings of paths. */
  const treatments = new Map<string, { readonly start: string; readonly treatment: Treatment }>();
  const watches: Watch[] = [];
  beforeAll(async () => {
    if (!chromium) return;
    database = await createEmptyDatabase();
    server = await startClientServer(database, page);
    proxy = await openProxy(
      () => server.url,
      ({ path, headers }) => {
        const { start, treatment } = treatments.get(profileOf(headers.referer)) ?? {};
        return treatment && path.startsWith(start!) ? treatment : pass;
      },
    );
    // Locks need a secure context, and localhost is one.
    url = proxy.url.replace('127.0.0.1', 'localhost');
    browser = await launchChromium(chromium);
  });
  afterAll(async () => {
    await browser?.close();
    proxy?.close();
    await server?.close();
    await database?.drop();
  });
  afterEach(() => {
    expect(watches.splice(0).flatMap((each) => each.problems())).toEqual([]);
  });
  return {
    get pool() {
      return database?.pool;
    },
    async profile() {
      const context = await browser.newContext();
      context.setDefaultTimeout(20_000);
      const name = `${++profiles}`;
      const watching = watch(context, url);
      watches.push(watching);
      const treat = (start: string, treatment: Treatment) => void treatments.set(name, { start, treatment });
      return {
        watch: watching,
        async tab(user, version = '', prepare = async () => {}) {
          const page = await context.newPage();
          await prepare(page);
          await page.goto(`${url}/?user=${user}&version=${version}&profile=${name}`);
          return {
            page,
            lists: () => page.getByRole('listitem').allTextContents(),
            status: () => page.getByRole('status').textContent(),
            create: (id, name) => page.evaluate((list) => window.client.mutate.list.create(list), { id, name }),
          };
        },
        setSyncing(syncing) {
          // Not with the browser: requests that it holds back are sent when their tab is closed.
          watching.allow(/failed: .*\/sync\/|net::ERR_(EMPTY_RESPONSE|CONNECTION_RESET)/);
          treat('/sync/', syncing ? pass : { kind: 'reset request' });
        },
        treat,
        async setOffline(offline) {
          watching.allow(/ERR_INTERNET_DISCONNECTED/);
          await context.setOffline(offline);
        },
      };
    },
  };
}

/** The profile of the page that sends a request. */
function profileOf(referer: string | undefined): string {
  return referer ? (new URL(referer).searchParams.get('profile') ?? '') : '';
}
