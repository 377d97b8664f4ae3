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

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(name, root), 'utf8'));

/** The packages that are published, by their folders. */
const packages: readonly (readonly [folder: string, manifest: Manifest])[] = readdirSync(new URL('packages', root)).map(
  (folder) => [folder, read(`packages/${folder}/package.json`)],
);

/** Returns the files of a package as npm would publish it. */
async function packed(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: fileURLToPath(new URL(`packages/${folder}`, root)),
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

describe.each(packages)('the package %s', (folder, manifest) => {
  it('says where its source, its page and its issues are', () => {
    const url = 'https://github.com/tidemark-sync/tidemark';
    expect(manifest).toMatchObject({
      version: packages[0]![1].version,
      license: 'Apache-2.0',
      homepage: `${url}#readme`,
      bugs: `${url}/issues`,
      repository: { type: 'git', url: `git+${url}.git`, directory: `packages/${folder}` },
      engines: { node: read('package.json').engines.node },
    });
    // npm publishes scoped packages as private ones by default.
    expect(manifest).toMatchObject(manifest.name.startsWith('@') ? { publishConfig: { access: 'public' } } : {});
  });

  it('has the licence of the repository', () => {
    const text = (path: string) => readFileSync(new URL(path, root), 'utf8');
    expect(text(`packages/${folder}/LICENSE`)).toBe(text('LICENSE'));
  });
});

describe.each(packages.filter(([, { exports }]) => exports))('the compiled package %s', (folder, manifest) => {
  it('contains only compiled files, licences, and operations files', async () => {
    const files = await packed(folder);
    const entries = [...Object.values(manifest.exports!).flatMap(Object.values), ...Object.values(manifest.bin ?? {})];
    for (const entry of entries) expect(files).toContain(entry.replace('./', ''));
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE']));
    const expected =
      /^(dist\/[\w/-]+\.(js|d\.ts)|dist\/[\w/.-]+\bLICENSE\.txt|ops\/[\w.]+|package\.json|README\.md|LICENSE)$/;
    expect(files.filter((file) => !expected.test(file))).toEqual([]);
    expect(files.filter((file) => /\b(test|bench|examples)\b/.test(file))).toEqual([]);
  });
});

describe('the client', () => {
  it('has no dependencies, so that its installation brings no server and no Postgres', () => {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
      read('packages/client/package.json');
    expect({ dependencies, optionalDependencies }).toEqual({});
    const optional = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name].optional);
    expect(optional).toEqual(Object.keys(peerDependencies));
  });

  it('has the licences of its engine', async () => {
    expect(await packed('client')).toContain('dist/engine.js.LICENSE.txt');
  });
});

describe('the server', () => {
  it('has the licences of what it contains', async () => {
    const files = await packed('tidemark');
    expect(files).toContain('dist/endpoints/docs-files/LICENSE.txt');
    expect(files).toContain('dist/view/parse/parser.js.LICENSE.txt');
    expect(files).toContain('ops/Dockerfile');
  });

  it('embeds the migrations and assets of the repository in its modules', async () => {
    const { migrationFiles } = await import(`${builtServer}/schema/migration-files.js`);
    expect(migrationFiles).toEqual(contentOf('packages/tidemark/sql'));
    const { readDocsFile } = await import(`${builtServer}/endpoints/docs-files.js`);
    const assets = Object.entries(contentOf('packages/tidemark/assets'));
    expect(assets.length).toBeGreaterThan(4);
    for (const [name, content] of assets) expect((await readDocsFile(name)) === content, name).toBe(true);
  });

  it('has the licences of the code that its documentation page bundles', () => {
    const licences = readFileSync(`${builtServer}/endpoints/docs-files/LICENSE.txt`, 'utf8');
    for (const name of [/Apache License, Version 2\.0/, /MIT/, /BSD-3-Clause/]) expect(licences).toMatch(name);
  });
});
