/** Reads the sources, and applies faults to them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './fault.js';

export interface SourceFile {
  /** Relative to the root. */
  readonly file: string;
  readonly text: string;
}

/** Every TypeScript file in the packages except tests, and every SQL file in `sql`. */
export function sourcesIn(root: string): SourceFile[] {
  const packages = ['client', 'embedded-postgres', 'tidemark'].map((name) => `packages/${name}/src`);
  return [...packages, 'packages/tidemark/sql'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.test)\.(ts|sql)$/.test(file))
      .map((file) => ({ file: join(folder, file), text: readFileSync(join(root, folder, file), 'utf8') })),
  );
}

/** The files that a fault changes, with the fault. */
export function withFault(sources: readonly SourceFile[], { find, replace }: Fault): SourceFile[] {
  return sources
    .filter(({ text }) => text.includes(find))
    .map(({ file, text }) => ({ file, text: text.replaceAll(find, () => replace) }));
}

/** Every test file in `packages` and `test`, relative to the root. */
export function testsIn(root: string): string[] {
  return ['packages', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts') && !/(^|\/)(node_modules|template)\//.test(file))
      .map((file) => join(folder, file)),
  );
}

/** Finds the test file that detects a fault. Undefined unless exactly one has its name. */
export function testFileOf(files: readonly string[], { test }: Fault): string | undefined {
  const found = files.filter((file) => file.endsWith(`/${test}.test.ts`) || file.endsWith(`/${test}.long.test.ts`));
  return found.length === 1 ? found[0] : undefined;
}
