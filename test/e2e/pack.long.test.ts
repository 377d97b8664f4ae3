import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { root } from '../support/built.js';

const run = promisify(execFile);
const clone = mkdtempSync(join(tmpdir(), 'tidemark-clone-'));

/** Links to the installed packages. Those of the repository itself are the clone's own. */
function linkModules(folder: string): void {
  mkdirSync(join(clone, folder), { recursive: true });
  for (const name of readdirSync(join(root, folder))) {
    const path = join(folder, name);
    if (name === '@tidemark') linkModules(path);
    else
      symlinkSync(
        /(@|\/)tidemark(\/|$)/.test(path) ? join(clone, 'packages', name) : join(root, path),
        join(clone, path),
      );
  }
}

beforeAll(async () => {
  const { stdout: listed } = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  for (const file of listed.split('\0').filter(Boolean)) {
    mkdirSync(join(clone, dirname(file)), { recursive: true });
    copyFileSync(join(root, file), join(clone, file));
  }
  linkModules('node_modules');
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

it.each(readdirSync(join(root, 'packages')))(
  'npm pack builds the package %s in a clean clone',
  async (name) => {
    const folder = join(clone, 'packages', name);
    for (const built of readdirSync(join(clone, 'packages'))) {
      rmSync(join(clone, 'packages', built, 'dist'), { recursive: true, force: true });
    }
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: folder });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const { exports = {}, bin = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const entries = [
      ...Object.values(exports as object).flatMap((entry: object) => Object.values(entry)),
      ...Object.values(bin as Record<string, string>),
    ];
    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries) expect(paths).toContain(entry.replace('./', ''));
  },
  300_000,
);
