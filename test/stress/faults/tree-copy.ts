import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fault } from './fault.js';
import { type SourceFile, sourcesIn, withFault } from './sources.js';

export const root: string = fileURLToPath(new URL('../../..', import.meta.url));
/** Git ignores it. */
const copies = join(root, '.tidemark', 'faults');
const ignored = new Set(['.git', '.tidemark', 'node_modules']);

/** A copy of the working tree, into which faults can be introduced. */
export class TreeCopy {
  readonly folder: string;

  constructor(name: string) {
    this.folder = join(copies, name);
    mkdirSync(this.folder, { recursive: true });
    const filter = (path: string) => !/\/(node_modules|packages\/[\w-]+\/dist)$/.test(path);
    for (const entry of readdirSync(root)) {
      if (!ignored.has(entry)) cpSync(join(root, entry), join(this.folder, entry), { recursive: true, filter });
    }
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Introduces a fault for the duration of `work`. */
  async with<T>(fault: Fault, work: () => Promise<T>): Promise<T> {
    const sources = sourcesIn(this.folder);
    const faulty = new Map(withFault(sources, fault).map(({ file, text }) => [file, text]));
    const sound = sources.filter(({ file }) => faulty.has(file));
    this.#write(sound.map(({ file }) => ({ file, text: faulty.get(file)! })));
    try {
      return await work();
    } finally {
      this.#write(sound);
    }
  }

  #write(sources: readonly SourceFile[]): void {
    for (const { file, text } of sources) writeFileSync(join(this.folder, file), text);
  }
}

export function removeCopies(): void {
  rmSync(copies, { recursive: true, force: true });
}
