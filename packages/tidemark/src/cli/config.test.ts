import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toMutators } from '../registry/registry.js';
import { loadConfig } from './config.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('the configuration', () => {
  it.each([
    ['has no default export', 'export const views = {};', /has no default export/],
    ['has no views', 'export default { authenticate() {} };', /does not export views/],
    ['has no authenticate', 'export default { views: {} };', /does not export an authenticate function/],
    [
      'has mutators without defineMutators',
      'export default { views: {}, authenticate() {}, mutators: {} };',
      /defineMutators/,
    ],
    ['does not parse', 'export default {', /^Cannot load /],
    ['throws', 'throw new Error("not today");', /^Cannot load [\s\S]*not today/],
  ])('is rejected if it %s', async (_, text, message) => {
    const loading = loadConfig(write('tidemark.config.mjs', text));
    await expect(loading).rejects.toThrow(expect.objectContaining({ name: 'SetupError' }));
    await expect(loading).rejects.toThrow(message);
  });

  it.each(['ts', 'js', 'mjs'])('is loaded from a .%s file', async (extension) => {
    const types = extension === 'ts' ? ' as const satisfies object' : '';
    const file = write(
      `tidemark.config.${extension}`,
      `export default { views: {}, authenticate: () => null }${types};`,
    );
    expect(await loadConfig(file)).toMatchObject({ views: {} });
  });

  it('may contain a registry of Zero', async () => {
    const text = `import { defineMutator, defineMutators } from '${import.meta.resolve('@rocicorp/zero')}';
      export default { views: {}, authenticate() {}, mutators: defineMutators({ a: defineMutator(async () => {}) }) };`;
    const { mutators } = await loadConfig(write('tidemark.config.mjs', text));
    expect([...toMutators(mutators!).keys()]).toEqual(['a']);
  });

  it('may contain a Map from another realm', async () => {
    const text = `import vm from 'node:vm';
      export default { views: {}, authenticate() {}, mutators: vm.runInNewContext('new Map()') };`;
    const { mutators } = await loadConfig(write('tidemark.config.mjs', text));
    expect([...toMutators(mutators!)]).toEqual([]);
  });
});
