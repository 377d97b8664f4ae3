import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Output, run } from '../../support/process.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readJSON = (path: string) => JSON.parse(read(path));

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-create-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const create = (args: readonly string[], { cwd = folder, env = {} } = {}): Promise<Output> =>
  run(join(root, 'packages/create-tidemark/create.js'), args, { cwd, env });

describe('create-tidemark', () => {
  it('copies the template, and names the package after the folder', async () => {
    const { code, stdout, stderr } = await create(['My  Äpp']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('  cd "My  Äpp"\n  npm install\n  npm run dev\n');
    const made = (path: string) => readFileSync(join(folder, 'My  Äpp', path), 'utf8');
    const template = readdirSync(join(root, 'packages/create-tidemark/template'), {
      recursive: true,
      encoding: 'utf8',
    });
    const expected = template.map((name) => name.replace(/^_/, '.'));
    const found = readdirSync(join(folder, 'My  Äpp'), { recursive: true, encoding: 'utf8' });
    expect(found.toSorted()).toEqual(expected.toSorted());
    expect(made('.gitignore')).toBe(read('packages/create-tidemark/template/_gitignore'));
    const { name, ...manifest } = JSON.parse(made('package.json'));
    expect(name).toBe('my-a-pp');
    const { dependencies, ...others } = readJSON('packages/create-tidemark/template/package.json');
    const { version } = readJSON('packages/create-tidemark/package.json');
    const own = ['@tidemark/client', '@tidemark/embedded-postgres', 'tidemark'].map((own) => [own, version]);
    expect(manifest).toEqual({
      ...others,
      name: undefined,
      dependencies: { ...dependencies, ...Object.fromEntries(own) },
    });
  });

  it('uses a default name', async () => {
    const { stdout } = await create([], { env: { npm_config_user_agent: 'pnpm/10.0.0 npm/? node/v20' } });
    expect(stdout).toContain('  cd tidemark-app\n  pnpm install\n  pnpm run dev\n');
    expect(existsSync(join(folder, 'tidemark-app/server/sync.ts'))).toBe(true);
  });

  it('accepts the current folder if it contains only a repository', async () => {
    mkdirSync(join(folder, '.git'));
    const { code, stdout } = await create(['.']);
    expect(code).toBe(0);
    expect(stdout).not.toContain('cd ');
    expect(existsSync(join(folder, 'package.json'))).toBe(true);
  });

  it('changes nothing in a folder that has files, and says what to do instead', async () => {
    mkdirSync(join(folder, 'app'));
    writeFileSync(join(folder, 'app/package.json'), 'mine');
    const { code, stdout, stderr } = await create(['app']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/files in .*app already\. Name a new folder \(npm create tidemark@latest my-app\)/);
    expect(readdirSync(join(folder, 'app'))).toEqual(['package.json']);
    expect(readFileSync(join(folder, 'app/package.json'), 'utf8')).toBe('mine');
  });

  it.each([
    ['a file in place of the folder', ['file/app'], /ENOTDIR.*Name another folder/],
    ['two names', ['my', 'app'], /put it in quotes: "my app"/],
    ['an unknown option', ['--typescript'], /Unknown option '--typescript'[\s\S]*npm create tidemark@latest/],
  ])('says what is wrong with %s', async (_, args, message) => {
    writeFileSync(join(folder, 'file'), '');
    const { code, stdout, stderr } = await create(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('prints its help and its version', async () => {
    expect((await create(['--help'])).stdout).toMatch(/npm create tidemark@latest \[folder\]/);
    expect((await create(['--version'])).stdout).toBe(`${readJSON('packages/tidemark/package.json').version}\n`);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the template', () => {
  it('contains no casts and no type declarations', () => {
    const folder = join(root, 'packages/create-tidemark/template');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) {
      const code = readFileSync(join(folder, file), 'utf8').replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '');
      expect(code, file).not.toMatch(/\bas\b|\bany\b|\b(type|interface) \w+ [={]|\w!/);
    }
  });
});

const isOwn = (name: string) => /^@?tidemark(\/|$)/.test(name);

describe('the package create-tidemark', () => {
  it('has the version of all other packages, and a template for the same version of Node', () => {
    const { version, engines } = readJSON('packages/tidemark/package.json');
    const template = readJSON('packages/create-tidemark/template/package.json');
    for (const name of ['client', 'embedded-postgres', 'create-tidemark']) {
      expect(readJSON(`packages/${name}/package.json`), name).toMatchObject({ version, engines });
    }
    expect(template.engines).toEqual(engines);
    const own = Object.entries(template.dependencies).filter(([name]) => isOwn(name));
    expect(own.map(([, wanted]) => wanted)).toEqual(['*', '*', '*']);
  });

  it('has a template with the same versions of other packages as the repository', () => {
    const manifests = ['package.json', 'examples/tasks/package.json', 'packages/create-tidemark/package.json'].map(
      readJSON,
    );
    const versions = Object.assign({}, ...manifests.flatMap((each) => [each.devDependencies, each.dependencies]));
    const { dependencies, devDependencies } = readJSON('packages/create-tidemark/template/package.json');
    const others = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => !isOwn(name));
    expect(others).toEqual(others.map(([name]) => [name, versions[name]]));
  });

  it('contains only the command, the template and the licence', async () => {
    const args = ['pack', '--workspace', 'create-tidemark', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: root });
    const found = JSON.parse(stdout).flatMap(({ files }: { files: { path: string }[] }) =>
      files.map(({ path }) => path),
    );
    const template = readdirSync(join(root, 'packages/create-tidemark/template'), {
      recursive: true,
      withFileTypes: true,
    });
    const files = template
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(join(root, 'packages/create-tidemark/').length));
    expect(found.toSorted()).toEqual([...files, 'LICENSE', 'create.js', 'package.json'].toSorted());
    expect(read('packages/create-tidemark/LICENSE')).toBe(read('LICENSE'));
  });
});
