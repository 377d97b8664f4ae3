import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bin, root } from '../../support/built.js';
import { run } from '../../support/process.js';

const config = `
import { defineConfig, defineMutator, defineMutators } from 'tidemark';

const create = defineMutator(async () => {}, { summary: 'Create a note' });

export default defineConfig({
  views: {},
  mutators: defineMutators({ note: { create } }),
  authenticate: () => null,
});
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-openapi-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(root, 'packages/tidemark'), join(folder, 'node_modules/tidemark'));
  writeFileSync(join(folder, 'other.config.ts'), config);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('tidemark openapi', () => {
  it('prints the document of the mutators without a database', async () => {
    const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const { code, stdout } = await run(bin, ['openapi', '--config', 'other.config.ts'], { cwd: folder, env });
    expect(code).toBe(0);
    const document = JSON.parse(stdout);
    expect(stdout).toBe(`${JSON.stringify(document, null, 2)}\n`);
    expect(document.openapi).toMatch(/^3\./);
    expect(Object.keys(document.paths)).toEqual(['/api/mutators/note/create', '/api/mutators']);
  });

  it('reports a missing configuration', async () => {
    const { code, stdout, stderr } = await run(bin, ['openapi'], { cwd: folder });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^There is no tidemark\.config\.ts/);
  });
});
