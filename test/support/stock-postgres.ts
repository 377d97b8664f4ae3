/** The Postgres that Debian ships, with default settings. Unlike the one from npm, it compiles expressions (JIT). */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const installed = '/usr/lib/postgresql/15';

/** True if tests that need the Debian package `postgresql-15` are skipped. CI installs it. */
export const stockPostgresIsMissing: boolean = !process.env.CI && !existsSync(join(installed, 'bin', 'postgres'));

let folder: string | undefined;

/** The folder to pass to `startEmbedded` as `binaries`. It holds only links, and is created once per process. */
export function stockBinaries(): string {
  folder ??= makeFolder();
  return folder;
}

function makeFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'tidemark-stock-postgres-'));
  // Postgres runs as another user.
  chmodSync(made, 0o755);
  const [version] = execFileSync(join(installed, 'bin', 'postgres'), ['--version'], { encoding: 'utf8' }).match(
    /\d+\.\d+/,
  )!;
  writeFileSync(join(made, 'package.json'), JSON.stringify({ version }));
  symlinkSync(installed, join(made, 'native'));
  return made;
}
