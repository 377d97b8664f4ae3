/** The text of the sources, and what it is with a fault. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './fault.js';

export interface SourceFile {
  /** Relative to the root. */
  readonly file: string;
  readonly text: string;
}

/** Every file of TypeScript in `src` and of SQL in `sql`. */
export function sourcesIn(root: string): SourceFile[] {
  return ['src', 'sql'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|sql)$/.test(file))
      .map((file) => ({ file: join(folder, file), text: readFileSync(join(root, folder, file), 'utf8') })),
  );
}

/** The files that a fault changes, as they are with it. */
export function withFault(sources: readonly SourceFile[], { find, replace }: Fault): SourceFile[] {
  return sources
    .filter(({ text }) => text.includes(find))
    .map(({ file, text }) => ({ file, text: text.replaceAll(find, () => replace) }));
}
