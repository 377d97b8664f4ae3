import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compile, createProject } from '../docs/compile.js';

const { dirname } = import.meta;
const files = readdirSync(dirname).filter((name) => name !== 'types.test.ts');

it('a correctly typed application compiles, and the compiler reports each mistake at its line', async () => {
  const project = createProject();
  try {
    const texts = Object.fromEntries(files.map((name) => [name, readFileSync(join(dirname, name), 'utf8')]));
    // A missing expected error is itself an error.
    expect(await compile(project.folder, texts)).toBe('');
  } finally {
    project.remove();
  }
});
