/** Finds the files of examples that documents show, each below its name. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/built.js';

/** The part of a file that a document shows, and the whole file. */
export interface ShownFile {
  readonly file: string;
  readonly shown: string;
  /** Undefined if there is no such file. */
  readonly text: string | undefined;
}

/**
 * Returns the files that a document shows, in order.
 * @param folder the folder that contains them
 * @throws Error if it shows code without a file name
 */
export function shownFiles(document: string, folder: string): ShownFile[] {
  const page = readFileSync(join(root, document), 'utf8');
  const blocks = [...page.matchAll(/^`([^`\n]+)`:\n\n```ts\n([\s\S]*?)^```$/gm)];
  if (blocks.length !== [...page.matchAll(/^```ts$/gm)].length) throw new Error(`${document} shows code of no file`);
  return blocks.map(([, file, shown]) => {
    const path = join(root, folder, file!);
    return { file: file!, shown: shown!, text: existsSync(path) ? readFileSync(path, 'utf8') : undefined };
  });
}
