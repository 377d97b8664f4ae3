/** The example as delivered, with its own database, and a browser. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { createDataFolder, type Example, startExample } from '../example/example.js';
import { launchChromium } from './chromium.js';
import { openProfile, type Profile } from './profile.js';

export interface Demo {
  readonly example: Example;
  /** A new browser profile. */
  profile(options?: BrowserContextOptions): Promise<Profile>;
  /** Stops the server and starts it again at the same address. `meanwhile` runs in between. */
  restart(meanwhile: () => Promise<unknown>): Promise<void>;
  stop(): Promise<void>;
}

export async function startDemo(chromium: string): Promise<Demo> {
  const folder = createDataFolder();
  let example: Example | undefined;
  let browser: Browser | undefined;
  const stop = async () => {
    try {
      await browser?.close();
      await example?.stop();
    } finally {
      await folder.remove();
    }
  };
  try {
    const first = await startExample({ TIDEMARK_DATA: folder.path });
    example = first;
    const opened = await launchChromium(chromium);
    browser = opened;
    return {
      example: first,
      profile: (options) => openProfile(opened, { baseURL: first.url, ...options }),
      async restart(meanwhile) {
        await example?.stop();
        await meanwhile();
        example = await startExample({ TIDEMARK_DATA: folder.path, PORT: new URL(first.url).port });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
