import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { builtServer } from './support/built.js';

const root = new URL('..', import.meta.url);

interface LockedPackage {
  /** Set if it differs from the folder's name. */
  readonly name?: string;
  readonly hasInstallScript?: boolean;
}

/** Returns the files of the package as npm would publish it. */
async function packed(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: fileURLToPath(root),
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
}

function contentOf(folder: string): Record<string, string> {
  const names = readdirSync(new URL(folder, root));
  return Object.fromEntries(names.map((name) => [name, readFileSync(new URL(`${folder}/${name}`, root), 'utf8')]));
}

describe('the repository', () => {
  it('lists every dependency with an install script in allowScripts', () => {
    const read = (name: string) => JSON.parse(readFileSync(new URL(name, root), 'utf8'));
    const { packages } = read('package-lock.json') as { packages: Record<string, LockedPackage> };
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = scripted.map(([path, { name }]) => name ?? path.split('node_modules/').at(-1)!);
    const reviewed = Object.keys((read('package.json') as { allowScripts: object }).allowScripts);
    expect(reviewed.toSorted()).toEqual([...new Set(names)].toSorted());
  });
});

describe('npm ci', () => {
  it('accepts this version of Node for every dependency', async () => {
    const { stderr } = await promisify(execFile)('npm', ['ci', '--dry-run', '--offline'], { cwd: fileURLToPath(root) });
    expect(stderr).not.toContain('EBADENGINE');
  });
});

describe('the package', () => {
  it('contains only compiled files, operations files and licences', async () => {
    const files = await packed();
    expect(files).toEqual(
      expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/cli.js', 'README.md', 'LICENSE']),
    );
    expect(files).toContain('dist/endpoints/docs-files/LICENSE.txt');
    expect(files).toContain('dist/client/engine.js.LICENSE.txt');
    expect(files).toContain('dist/view/parse/parser.js.LICENSE.txt');
    const expected =
      /^(dist\/[\w/-]+\.(js|d\.ts)|dist\/[\w/.-]+\bLICENSE\.txt|ops\/[\w.]+|package\.json|README\.md|LICENSE)$/;
    expect(files.filter((file) => !expected.test(file))).toEqual([]);
    expect(files.filter((file) => /\b(test|bench|examples)\b/.test(file))).toEqual([]);
  });

  it('embeds the migrations and assets of the repository in its modules', async () => {
    const { migrationFiles } = await import(`${builtServer}/schema/migration-files.js`);
    expect(migrationFiles).toEqual(contentOf('sql'));
    const { readDocsFile } = await import(`${builtServer}/endpoints/docs-files.js`);
    const assets = Object.entries(contentOf('assets'));
    expect(assets.length).toBeGreaterThan(4);
    for (const [name, content] of assets) expect((await readDocsFile(name)) === content, name).toBe(true);
  });

  it('has the licences of the code that its documentation page bundles', () => {
    const licences = readFileSync(new URL('dist/endpoints/docs-files/LICENSE.txt', root), 'utf8');
    for (const name of [/Apache License, Version 2\.0/, /MIT/, /BSD-3-Clause/]) expect(licences).toMatch(name);
  });
});
