import { expect, it } from 'vitest';
import { hosts } from '../e2e/hosts/hosts.js';
import { shownFiles } from './shown-files.js';

const files = shownFiles('docs/mount-it.md', 'examples/hosts');

it('shows the files of the examples, as tests run them', () => {
  for (const { file, shown, text } of files) expect(shown, file).toBe(text);
});

it('shows something of every host that is tested', () => {
  const folders = new Set(files.map(({ file }) => file.split('/')[0]!).filter((name) => name !== 'sync.ts'));
  expect([...folders].toSorted()).toEqual([...hosts].toSorted());
});
