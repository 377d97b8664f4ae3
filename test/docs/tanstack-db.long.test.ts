/** docs/tanstack-db.md, followed word for word in an empty folder. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { npm } from '../e2e/create/npm.js';
import { root } from '../support/built.js';
import { blocksOf, compile } from './compile.js';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const parent = mkdtempSync(join(tmpdir(), 'tidemark-tanstack-'));
const folder = join(parent, 'app');

const server = `
  import { defineMutator, defineMutators, defineView, sql } from 'tidemark';
  import { z } from 'zod';
  const note = defineView({ query: () => sql<{ id: string; body: string }>\`select id, body from note\`, key: 'id' });
  const create = defineMutator(z.object({ id: z.string(), body: z.string() }), () => {});
  export const views = { note };
  export const mutators = defineMutators({ note: { create } });`;
const [notes = '', ...others] = blocksOf('docs/tanstack-db.md', 'ts');

const install = (...packages: string[]) =>
  npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', ...packages);

/** The versions of `@tanstack/db` that are installed, each of which is one copy. */
async function copies(): Promise<string[]> {
  const found = await npm(folder, 'ls', '@tanstack/db', '--parseable', '--long');
  return [...new Set(found.split('\n').filter(Boolean))].map((line) => /@tanstack\/db@([\d.]+)/.exec(line)![1]!);
}

beforeAll(async () => {
  await npm(root, 'pack', '--ignore-scripts', '--pack-destination', parent);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await install(join(parent, `tidemark-${version}.tgz`), 'zod');
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

it('what it says to install is one copy of @tanstack/db, with which its code compiles', async () => {
  expect(others).toEqual([]);
  const [command = '', ...more] = blocksOf('docs/tanstack-db.md', 'sh').join('').trim().split('\n');
  expect(more).toEqual([]);
  expect(command).toMatch(/^npm install \S+$/);
  await install(...command.split(' ').slice(2));
  expect(await copies()).toHaveLength(1);
  expect(await compile(folder, { 'server.ts': server, 'notes.ts': notes })).toBe('');
});

/** What the compiler says first. */
async function firstError(): Promise<string> {
  const [first = '', ...others] = (await compile(folder, {})).split(/^(?=\S+\(\d)/m);
  expect(others.join('')).not.toContain('No overload matches this call');
  return first.replace(/^\S*\//, '');
}

it('with a second copy, or without any, the first error of the compiler says what to do', async () => {
  const [own] = await copies();
  await install(`@tanstack/db@${own === '0.15.2' ? '0.15.1' : '0.15.2'}`);
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
  expect(await copies()).toEqual([own]);
  expect(await compile(folder, {})).toBe('');
});
