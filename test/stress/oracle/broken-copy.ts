/** Copies of the sources with one fault in each, to verify that the oracle detects them. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Patch, patched } from '../../support/patch.js';
import { type Code, loadCode } from './code.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const server = join(root, 'packages/tidemark');
/** Git ignores it. It is inside the package, so that a copy finds its dependencies. Each process has its own. */
const copies = join(root, '.tidemark', 'broken', String(process.pid));

export function removeCopies(): void {
  rmSync(copies, { recursive: true, force: true });
}

export async function loadBroken(name: string, patches: readonly Patch[]): Promise<Code> {
  return loadCode(copyBroken('src', name, patches));
}

/**
 * Copies the sources or the compiled code, and returns the path of the copy, which `removeCopies` removes. The patches'
 * files are relative to the copied part.
 */
export function copyBroken(part: 'src' | 'dist', name: string, patches: readonly Patch[]): string {
  const folder = join(copies, name.replaceAll(' ', '-'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const copied of [part, 'sql']) cpSync(join(server, copied), join(folder, copied), { recursive: true });
  for (const patch of patches) {
    const path = join(folder, part, patch.file);
    writeFileSync(path, patched(readFileSync(path, 'utf8'), patch));
  }
  return join(folder, part);
}
