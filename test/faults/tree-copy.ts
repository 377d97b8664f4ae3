import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Patch, patched } from '../patch.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Ignored by git. */
const copies = join(root, '.tidemark', 'faults');
const left = new Set(['.git', '.tidemark', 'dist', 'node_modules']);

/** A copy of the working tree, in which something can be wrong. */
export class TreeCopy {
  readonly folder: string;

  constructor(name: string) {
    this.folder = join(copies, name);
    mkdirSync(this.folder, { recursive: true });
    const filter = (path: string) => !path.endsWith('/node_modules');
    for (const entry of readdirSync(root)) {
      if (!left.has(entry)) cpSync(join(root, entry), join(this.folder, entry), { recursive: true, filter });
    }
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Applies a patch while `work` goes on. */
  async with<T>(patch: Patch, work: () => Promise<T>): Promise<T> {
    const path = join(this.folder, patch.file);
    const sound = readFileSync(path, 'utf8');
    writeFileSync(path, patched(sound, patch));
    try {
      return await work();
    } finally {
      writeFileSync(path, sound);
    }
  }
}

export function removeCopies(): void {
  rmSync(copies, { recursive: true, force: true });
}
