/** This version of Tidemark, and an earlier one. Neither has been released. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Code, loadCode } from '../oracle/code.js';

/**
 * The server's part of the sources before cookies had a position, with its migrations, and with the present capture: a server
 * refuses capture functions that it would not have written.
 */
const archive = fileURLToPath(new URL('before.tar.gz', import.meta.url));

/** Ignored by git, and inside the package, so that the sources find their dependencies. Each process has its own. */
const folder = fileURLToPath(new URL(`../../.tidemark/before/${process.pid}`, import.meta.url));

export interface Versions {
  readonly before: Code;
  readonly now: Code;
}

export async function loadVersions(): Promise<Versions> {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
  return { before: await loadCode(join(folder, 'src')), now: await loadCode() };
}

export function removeVersions(): void {
  rmSync(folder, { recursive: true, force: true });
}
