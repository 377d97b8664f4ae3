import { expect, it } from 'vitest';
import { orms } from '../e2e/orms/examples.js';
import { shownFiles } from './shown-files.js';

const files = shownFiles('docs/orms.md', 'examples/orms');

it('docs/orms.md shows files of the examples, or parts of them, unchanged', () => {
  for (const { file, shown, text } of files) expect(text, file).toContain(shown);
});

it.each(orms)('docs/orms.md shows a view and the transaction of mutators for %s', (name) => {
  const shown = files.map(({ file }) => file);
  expect(shown).toContain(`${name}/views.ts`);
  expect(shown).toContain(`${name}/tx.ts`);
});
