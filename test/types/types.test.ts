import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compile, createProject } from '../docs/compile.js';

const { dirname } = import.meta;
const files = readdirSync(dirname).filter((name) => name !== 'types.test.ts');

it('an application that is typed right compiles, and each mistake is found where it is', async () => {
  const project = createProject();
  try {
    const texts = Object.fromEntries(files.map((name) => [name, readFileSync(join(dirname, name), 'utf8')]));
    // An expected error that does not come is an error.
    expect(await compile(project.folder, texts)).toBe('');
  } finally {
    project.remove();
  }
});
