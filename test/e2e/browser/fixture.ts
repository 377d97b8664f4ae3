/** One demo for a test file, and browser profiles for each test, which must end without problems. */
import pg from 'pg';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, it as anyIt, beforeAll, expect, inject } from 'vitest';
import { type Demo, startDemo } from './demo.js';
import type { Profile } from './profile.js';

const chromium = inject('chromium');

/** Skipped without a browser. */
export const it = anyIt.skipIf(!chromium);

export interface Fixture {
  readonly demo: Demo;
  /** Writes directly to the database, as psql does. */
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  profile(options?: BrowserContextOptions): Promise<Profile>;
}

export function useDemo(): Fixture {
  let demo: Demo;
  const profiles: Profile[] = [];
  beforeAll(async () => {
    demo = await startDemo(chromium);
  });
  afterAll(() => demo?.stop());
  afterEach(async () => {
    const opened = profiles.splice(0);
    await Promise.all(opened.map(({ context }) => context.close()));
    expect(opened.flatMap(({ watch }) => watch.problems())).toEqual([]);
  });
  return {
    get demo() {
      return demo;
    },
    async sql(text, values) {
      const client = new pg.Client({ connectionString: demo.example.database });
      await client.connect();
      const { rows } = await client.query(text, values);
      await client.end();
      return rows;
    },
    async profile(options) {
      const profile = await demo.profile(options);
      profiles.push(profile);
      return profile;
    },
  };
}
