/** Copies of the sources with one thing wrong in each, to see whether the oracle notices. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Code, loadCode } from './code.js';

export interface Patch {
  /** Below the part that is copied. */
  readonly file: string;
  /** Must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Ignored by git, and inside the package, so that the copy finds its dependencies. */
const copies = join(root, '.tidemark', 'broken');

export function removeCopies(): void {
  rmSync(copies, { recursive: true, force: true });
}

export async function loadBroken(name: string, patches: readonly Patch[]): Promise<Code> {
  return loadCode(copyPatched('src', join(copies, name), patches));
}

/** Copies the sources, or what they are compiled to, and returns where the copy is. */
export function copyPatched(part: 'src' | 'dist', folder: string, patches: readonly Patch[]): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const copied of [part, 'sql']) cpSync(join(root, copied), join(folder, copied), { recursive: true });
  for (const patch of patches) apply(join(folder, part, patch.file), patch);
  return join(folder, part);
}

function apply(path: string, { file, find, replace }: Patch): void {
  const pieces = readFileSync(path, 'utf8').split(find);
  if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} times, not once:\n${find}`);
  writeFileSync(path, pieces.join(replace));
}
