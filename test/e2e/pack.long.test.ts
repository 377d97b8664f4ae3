import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { root } from '../support/built.js';

const run = promisify(execFile);

it('npm pack builds the package in a clean clone', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'tidemark-clone-'));
  try {
    const { stdout: listed } = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 16 * 1024 * 1024 });
    for (const file of listed.split('\0').filter(Boolean)) {
      mkdirSync(join(clone, dirname(file)), { recursive: true });
      copyFileSync(join(root, file), join(clone, file));
    }
    const { exports, bin, workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const installed = ['.', ...workspaces].map((folder) => join(folder, 'node_modules'));
    for (const folder of installed) {
      if (existsSync(join(root, folder))) symlinkSync(join(root, folder), join(clone, folder));
    }
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: clone });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const entries = [
      ...Object.values(exports as object).flatMap((entry: object) => Object.values(entry)),
      bin.tidemark,
    ];
    for (const entry of entries) expect(paths).toContain(entry.replace('./', ''));
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}, 300_000);
