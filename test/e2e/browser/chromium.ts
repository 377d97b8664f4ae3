import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The file of a Chromium or Chrome: CHROMIUM_PATH, or the first one on the PATH. */
export function findChromium({ CHROMIUM_PATH, PATH = '' } = process.env): string | undefined {
  const folders = PATH.split(delimiter);
  return CHROMIUM_PATH || names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}

export const howToGetChromium =
  'no Chromium was found. Install chromium or Chrome so that it is on the PATH, or set CHROMIUM_PATH to its file';

/** Starts Chromium with a new profile and without background traffic. */
export function launchChromium(executablePath: string, moreArgs: readonly string[] = []): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    ...moreArgs,
  ];
  return chromium.launch({ executablePath, args, timeout: 60_000 });
}
