/** Finds the browser before the browser tests. It is optional for developers, and required on the build server. */
import type { TestProject } from 'vitest/node';
import { findChromium, howToGetChromium } from './chromium.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The browser's file; empty if there is none. */
    chromium: string;
  }
}

export default function setup(project: TestProject): void {
  const chromium = findChromium() ?? '';
  project.provide('chromium', chromium);
  if (chromium) return;
  if (process.env.CI) throw new Error(`The browser tests cannot run: ${howToGetChromium}.`);
  console.warn(`The browser tests are skipped: ${howToGetChromium}; then: npx vitest run --project 'long browser'`);
}
