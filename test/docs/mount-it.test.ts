import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../built.js';
import { hosts } from '../hosts/hosts.js';

const page = readFileSync(join(root, 'docs/mount-it.md'), 'utf8');
const shown = [...page.matchAll(/^`([^`\n]+)`:\n\n```ts\n([\s\S]*?)^```$/gm)].map(([, file, code]) => [file!, code!]);

it('shows the files of the examples, as tests run them', () => {
  expect(shown.length).toBe([...page.matchAll(/^```ts$/gm)].length);
  for (const [file, code] of shown) {
    const path = join(root, 'examples/hosts', file!);
    expect(existsSync(path), file).toBe(true);
    expect(code, file).toBe(readFileSync(path, 'utf8'));
  }
});

it('shows something of every host that is tested', () => {
  const folders = new Set(shown.map(([file]) => file!.split('/')[0]!).filter((name) => name !== 'sync.ts'));
  expect([...folders].toSorted()).toEqual([...hosts].toSorted());
});
