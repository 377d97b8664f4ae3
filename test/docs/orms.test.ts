import { expect, it } from 'vitest';
import { orms } from '../e2e/orms/examples.js';
import { shownFiles } from './shown-files.js';

const files = shownFiles('docs/orms.md', 'examples/orms');

it('shows files of the examples, or parts of them, as tests run them', () => {
  for (const { file, shown, text } of files) expect(text, file).toContain(shown);
});

it.each(orms)('shows a view and what mutators get: %s', (name) => {
  const shown = files.map(({ file }) => file);
  expect(shown).toContain(`${name}/views.ts`);
  expect(shown).toContain(`${name}/tx.ts`);
});
