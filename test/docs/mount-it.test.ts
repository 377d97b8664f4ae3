import { expect, it } from 'vitest';
import { hosts } from '../e2e/hosts/hosts.js';
import { shownFiles } from './shown-files.js';

const files = shownFiles('docs/mount-it.md', 'examples/hosts');

it('docs/mount-it.md shows the files of the examples unchanged', () => {
  for (const { file, shown, text } of files) expect(shown, file).toBe(text);
});

it('docs/mount-it.md shows a file of every tested host, and of no other', () => {
  const folders = new Set(files.map(({ file }) => file.split('/')[0]!).filter((name) => name !== 'sync.ts'));
  expect([...folders].toSorted()).toEqual([...hosts].toSorted());
});
