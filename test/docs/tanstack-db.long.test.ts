/** Follows docs/tanstack-db.md word for word in an empty folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { npm, packed } from '../e2e/create/npm.js';
import { blocksOf, compile } from './compile.js';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const parent = mkdtempSync(join(tmpdir(), 'tidemark-tanstack-'));
const folder = join(parent, 'app');

const server = `
  import { defineMutator, defineMutators, defineView, sql } from 'tidemark';
  import { z } from 'zod';
  const note = defineView({ query: () => sql<{ id: string; body: string }>\`select id, body from note\`, key: 'id' });
  const issue = defineView({
    args: z.object({ projectID: z.string() }),
    query: ({ args }) => sql<{ id: string; projectID: string; priority: number }>\`
      select id, project_id as "projectID", priority from issue where project_id = \${args.projectID}\`,
    key: 'id',
  });
  const create = defineMutator(z.object({ id: z.string(), body: z.string() }), () => {});
  export const views = { note, issue };
  export const mutators = defineMutators({ note: { create } });`;
const [notes = '', onDemand = '', limited = '', rendered = '', ...moreBlocks] = blocksOf('docs/tanstack-db.md', 'ts');

const install = (...packages: string[]) =>
  npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages);

/** The installed versions of `@tanstack/db`, each of which is one copy. */
async function copies(): Promise<string[]> {
  const found = await npm(folder, 'ls', '@tanstack/db', '--parseable', '--long');
  return [...new Set(found.split('\n').filter(Boolean))].map((line) => /@tanstack\/db@([\d.]+)/.exec(line)![1]!);
}

beforeAll(async () => {
  const tarballs = await packed(parent, 'tidemark', 'client');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await install(...tarballs, 'pg', 'zod');
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

it('the documented command installs one copy of @tanstack/db, and the code compiles with it', async () => {
  expect(moreBlocks).toEqual([]);
  const [command = '', ...more] = blocksOf('docs/tanstack-db.md', 'sh').join('').trim().split('\n');
  expect(more).toEqual([]);
  expect(command).toMatch(/^npm install \S+$/);
  await install(...command.split(' ').slice(2));
  expect(await copies()).toHaveLength(1);
  const blocks = { 'notes.ts': notes, 'on-demand.ts': onDemand, 'only-first.ts': limited, 'rendered.ts': rendered };
  expect(await compile(folder, { 'server.ts': server, ...blocks })).toBe('');
});

/** Returns the compiler's first error. */
async function firstError(): Promise<string> {
  const [first = '', ...later] = (await compile(folder, {})).split(/^(?=\S+\(\d)/m);
  expect(later.join('')).not.toContain('No overload matches this call');
  return first.replace(/^\S*\//, '');
}

it('the first compiler error says what to do about a second or missing copy of @tanstack/db', async () => {
  const [version] = await copies();
  await install(`@tanstack/db@${version === '0.15.2' ? '0.15.1' : '0.15.2'}`);
  expect(await copies()).toHaveLength(2);
  expect(await firstError()).toMatch(
    /^notes\.ts\(.*TwoCopiesOfTanStackDB'\.\n {2}Property ''There are two copies of @tanst/,
  );
  await npm(folder, 'uninstall', '@tanstack/db');
  expect(await firstError()).toMatch(
    /^notes\.ts\(.*NoCopyOfTanStackDB'\.\n {2}Property ''Tidemark finds no copy of @tanst/,
  );

  await npm(folder, 'uninstall', '@tanstack/react-db');
  await install('@tanstack/react-db');
  expect(await copies()).toEqual([version]);
  expect(await compile(folder, {})).toBe('');
});
