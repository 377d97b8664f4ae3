import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../packages/tidemark/src', import.meta.url));

/** The layers of ARCHITECTURE.md, lowest first. A file imports from its own layer and from those before it. */
const [, table] = readFileSync(join(src, '../ARCHITECTURE.md'), 'utf8').split('| Layer | What it knows |');
const layers = [...table!.split('\n\n')[0]!.matchAll(/^\| (`.*?`) \|/gm)]
  .map(([, names]) => names!.split(', ').map((name) => name.replace(/[`/]/g, '')))
  .reverse();

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.ts$/.test(file));

function layerOf(file: string): number {
  const folder = file.split('/')[0]!;
  return layers.findIndex((layer) => layer.includes(folder));
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  return [...text.matchAll(/from '(\.[^']+)\.js'/g)].map(([, path]) =>
    relative(src, resolve(dirname(join(src, file)), `${path}.ts`)),
  );
}

describe('the source tree', () => {
  it('has a layer for every file, and a file for every layer', () => {
    expect(files.filter((file) => layerOf(file) < 0)).toEqual([]);
    expect(layers.flat().filter((name) => !existsSync(join(src, name)))).toEqual([]);
  });

  it('imports only from the same layer or from those below', () => {
    const upward = files.flatMap((file) =>
      importsOf(file)
        .filter((imported) => layerOf(imported) > layerOf(file))
        .map((imported) => `${file} → ${imported}`),
    );
    expect(upward).toEqual([]);
  });

  it('has no import cycles', () => {
    const open = new Set<string>();
    const done = new Set<string>();
    const visit = (file: string, way: readonly string[]): string[] => {
      if (open.has(file)) return [[...way, file].join(' → ')];
      if (done.has(file)) return [];
      open.add(file);
      const found = importsOf(file).flatMap((imported) => visit(imported, [...way, file]));
      open.delete(file);
      done.add(file);
      return found;
    };
    expect(files.flatMap((file) => visit(file, []))).toEqual([]);
  });

  it('imports only browser modules in code for the browser', () => {
    const forBrowsers = files.filter((file) => /^(client|poke|react|tanstack-db)(\/|\.ts$)/.test(file));
    const needed = forBrowsers.flatMap((file) => {
      const text = readFileSync(join(src, file), 'utf8');
      const imports = text.matchAll(/^(import|export) (?!type )(?:[^;']*? from )?'([^']+)'/gm);
      return [...imports].map(([, , name]) =>
        name!.startsWith('.') ? relative(src, join(src, dirname(file), name!)) : name!,
      );
    });
    expect(
      needed.filter((name) => !/^((client|react|tanstack-db)\/[\w/-]+\.js|poke\.js|#engine|react)$/.test(name)),
    ).toEqual([]);
    expect(needed).toContain('poke.js');
  });

  it('has no file of more than 300 lines', () => {
    const long = files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 300);
    expect(long).toEqual([]);
  });

  it('does not spread or destructure loggers, whose methods may need `this`', () => {
    const root = join(src, '..');
    const texts = ['src', 'examples', 'create-tidemark', 'docs', 'internals', 'README.md', 'bench', 'test']
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

  it('contains SQL only in layers that know the database', () => {
    const statement = /\b(select|insert into|update|delete from)\b[^'"`]*\b(tidemark\.\w+|pg_\w+)/i;
    const elsewhere = files
      .filter((file) => !/^(db|catalog|store|schema|doctor)\//.test(file))
      .filter((file) => statement.test(readFileSync(join(src, file), 'utf8').replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')));
    expect(elsewhere).toEqual([]);
  });
});
