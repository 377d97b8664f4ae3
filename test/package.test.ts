import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = new URL('..', import.meta.url);

/** The files of the package as npm would publish it. */
async function packed(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: fileURLToPath(root),
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
}

describe('the package', () => {
  it('holds what was compiled, its migrations, what operates it, the documentation page and licences, and nothing else', async () => {
    const files = await packed();
    expect(files).toEqual(
      expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/cli.js', 'README.md', 'LICENSE']),
    );
    expect(files).toContain('assets/swagger-ui-bundle.js.LICENSE.txt');
    expect(files).toContain('dist/client/engine.js.LICENSE.txt');
    const known =
      /^(dist\/[\w/-]+\.(js|d\.ts)|dist\/client\/engine\.js\.LICENSE\.txt|sql\/\d{4}-[\w-]+\.sql|ops\/[\w.]+|assets\/[\w.-]+|package\.json|README\.md|LICENSE)$/;
    expect(files.filter((file) => !known.test(file))).toEqual([]);
    expect(files.filter((file) => /\b(test|bench|examples)\b/.test(file))).toEqual([]);
  });

  it('has the licences of what its documentation page bundles', () => {
    const licences = readFileSync(new URL('assets/swagger-ui-bundle.js.LICENSE.txt', root), 'utf8');
    for (const name of [/Apache License, Version 2\.0/, /MIT/, /BSD-3-Clause/]) expect(licences).toMatch(name);
  });
});
