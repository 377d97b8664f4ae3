/** This version of Tidemark, and the latest release. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Code, loadCode } from '../oracle/code.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Git ignores it. It is inside the package, so that the sources find their dependencies. Each process has its own. */
const folder = join(root, '.tidemark', 'released', String(process.pid));

export interface Versions {
  readonly before: Code;
  readonly now: Code;
}

/** The tag of the latest release that this commit descends from; undefined if there is none yet. */
export function lastRelease(): string | undefined {
  const [last] = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname').toString().split('\n');
  return last || undefined;
}

export async function loadVersions(release: string): Promise<Versions> {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', release, 'packages/tidemark') });
  return { before: await loadCode(join(folder, 'packages/tidemark/src')), now: await loadCode() };
}

export function removeVersions(): void {
  rmSync(folder, { recursive: true, force: true });
}

function git(...args: string[]): Buffer {
  return execFileSync('git', args, { cwd: root, maxBuffer: 2 ** 30 });
}
