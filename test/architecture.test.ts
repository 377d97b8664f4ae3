import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Package {
  readonly name: string;
  /** The layers of ARCHITECTURE.md, lowest first. A file imports from its own layer and from those before it. */
  readonly layers: readonly (readonly string[])[];
  readonly src: string;
  /** Relative to `src`. */
  readonly files: readonly string[];
}

const sections = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').matchAll(
  /^### `packages\/([\w-]+)`\n\n\| Layer \| What it knows \|\n([\s\S]*?)\n\n/gm,
);

const packages: readonly Package[] = [...sections].map(([, name = '', table = '']) => {
  const src = join(root, 'packages', name, 'src');
  const rows = [...table.matchAll(/^\| (`.*?`) \|/gm)];
  const layers = rows.map(([, names]) => names!.split(', ').map((layer) => layer.replace(/[`/]/g, ''))).reverse();
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.ts$/.test(file));
  return { name, layers, src, files };
});

function importsOf({ src }: Package, file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  return [...text.matchAll(/from '(\.[^']+)\.js'/g)].map(([, path]) =>
    relative(src, resolve(dirname(join(src, file)), `${path}.ts`)),
  );
}

const anyImport = /(?:^(?:import|export) (?:[^;']*? from )?|\bimport\()'([^'.][^']*)'/gm;
const runTimeImport = /^(?:import|export) (?!type )(?:[^;']*? from )?'([^'.][^']*)'/gm;

const maxLines = 220;

/** The client's engine is described in one file, its sync engine overrides one class, and its pokes import nothing. */
const longFiles = ['client/src/engine.d.ts', 'client/src/poke.ts', 'client/src/sync/sync-engine.ts'];

const maxFiles = 12;

/** They are to become smaller. A folder that no longer has too many files must be removed from this list. */
const largeFolders = [
  'client/src',
  'client/src/sync',
  'embedded-postgres/src',
  'tidemark/src',
  'tidemark/src/cli',
  'tidemark/src/db',
  'tidemark/src/protocol',
];

/** Files of applications that the documents describe. */
const filesOfApplications = ['test/notes.test.ts', 'test/server.ts', 'test/sync.test.ts'];

/** The modules outside of a package that it imports, with the files that import them. */
function externalImportsOf({ src, files }: Package, pattern: RegExp): [file: string, module: string][] {
  return files.flatMap((file) =>
    [...readFileSync(join(src, file), 'utf8').matchAll(pattern)].map(([, name]): [string, string] => [file, name!]),
  );
}

it('ARCHITECTURE.md lists the layers of every package that is compiled', () => {
  const compiled = readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'src')),
  );
  expect(packages.map(({ name }) => name).toSorted()).toEqual(compiled.toSorted());
});

describe.each(packages)('the source tree of $name', (each) => {
  const { name, layers, src, files } = each;

  function layerOf(file: string): number {
    const folder = file.split('/')[0]!;
    return layers.findIndex((layer) => layer.includes(folder));
  }

  it('has a layer for every file, and a file for every layer', () => {
    expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
    expect(layers.flat().filter((name) => !existsSync(join(src, name)))).toEqual([]);
  });

  it('imports only from the same layer or from those below', () => {
    const upward = files.flatMap((file) =>
      importsOf(each, file)
        .filter((imported) => layerOf(imported) > layerOf(file))
        .map((imported) => `${file} → ${imported}`),
    );
    expect(upward).toEqual([]);
  });

  it('has no import cycles, and no imports from other folders', () => {
    const open = new Set<string>();
    const done = new Set<string>();
    const visit = (file: string, way: readonly string[]): string[] => {
      if (file.startsWith('..')) return [[...way, file].join(' → ')];
      if (open.has(file)) return [[...way, file].join(' → ')];
      if (done.has(file)) return [];
      open.add(file);
      const found = importsOf(each, file).flatMap((imported) => visit(imported, [...way, file]));
      open.delete(file);
      done.add(file);
      return found;
    };
    expect(files.flatMap((file) => visit(file, []))).toEqual([]);
  });

  it(`has no file of more than ${maxLines} lines, except for ${longFiles.join(', ')}`, () => {
    // The text after the last line break is no line.
    const lines = (file: string) => readFileSync(join(src, file), 'utf8').split('\n').length - 1;
    const long = files.filter((file) => lines(file) > maxLines).map((file) => `${name}/src/${file}`);
    expect(long.toSorted()).toEqual(longFiles.filter((file) => file.startsWith(`${name}/`)));
  });

  it(`has no folder of more than ${maxFiles} files, except for those listed`, () => {
    const folderOf = (file: string) => dirname(join(name, 'src', file));
    const folders = [...new Set(files.map(folderOf))];
    const large = folders.filter((folder) => files.filter((file) => folderOf(file) === folder).length > maxFiles);
    expect(large.toSorted()).toEqual(largeFolders.filter((folder) => folder.startsWith(`${name}/`)));
  });

  it('contains SQL only in layers that know the database', () => {
    const statement = /\b(select|insert into|update|delete from)\b[^'"`]*\b(tidemark\.\w+|pg_\w+)/i;
    const elsewhere = files
      .filter((file) => !/^(db|catalog|store|schema|doctor)\//.test(file))
      .filter((file) => statement.test(readFileSync(join(src, file), 'utf8').replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')));
    expect(elsewhere).toEqual([]);
  });
});

it('the internals and the guides name only files that exist', () => {
  const documents = ['internals', 'docs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !/(^|\/)node_modules\//.test(file))
      .map((file) => join(folder, file)),
  );
  const missing = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/`((?:packages|test|bench|scripts)\/[\w./-]+\.\w+)`/g)]
      .map(([, file]) => file!)
      .filter((file) => !existsSync(join(root, file)) && !filesOfApplications.includes(file))
      .map((file) => `${document}: ${file}`),
  );
  expect(missing).toEqual([]);
});

describe('the packages', () => {
  const importsOfAll = (pattern: RegExp) =>
    packages.flatMap((each) =>
      externalImportsOf(each, pattern)
        .filter(([, module]) => /^(@?tidemark)\b/.test(module))
        .map(([file, module]) => `${each.name}/src/${file} → ${module}`),
    );

  it('do not need each other, except for the embedded Postgres if an application asks for it', () => {
    const found = 'tidemark/src/embedded.ts → @tidemark/embedded-postgres';
    expect([...new Set(importsOfAll(anyImport))]).toEqual([found]);
    expect(importsOfAll(runTimeImport)).toEqual([]);
  });

  it('use only modules for the browser in the client', () => {
    const client = packages.find(({ name }) => name === 'client')!;
    const modulesOf = (pattern: RegExp) => new Set(externalImportsOf(client, pattern).map(([, module]) => module));
    expect([...modulesOf(anyImport)].filter((name) => !/^(#engine|react|@tanstack\/[\w-]+)$/.test(name))).toEqual([]);
    expect([...modulesOf(runTimeImport)].toSorted()).toEqual(['#engine', 'react']);
  });

  it('does not spread or destructure loggers, whose methods may need `this`', () => {
    const texts = ['packages', 'examples', 'docs', 'internals', 'README.md', 'bench', 'test']
      .flatMap((path) =>
        path.endsWith('.md')
          ? [path]
          : readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).map((file) => join(path, file)),
      )
      .filter((file) => /\.(ts|tsx|mts|js|mjs|md)$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file));
    const apart = texts.filter((file) =>
      /\.\.\.(log|logger)\b|\{[\w\s,:]*\} = (log|logger)\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(apart).toEqual([]);
  });
});
