/** Compiles TypeScript as the documents show it. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../support/built.js';

/** The code blocks of a document, in order. */
export function blocksOf(document: string, language: string): string[] {
  const text = readFileSync(join(root, document), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1]!);
}

/** A block of TypeScript in a document. */
export interface FileBlock {
  /** The path of the file, from the line before the block; undefined if there is none. */
  readonly path: string | undefined;
  readonly language: 'ts' | 'tsx';
  readonly text: string;
}

const fileBlock = /^(?:`([^`\n]+)`:\n\n)?```(tsx?)\n([\s\S]*?)^```$/gm;

/** The blocks of TypeScript in a document, in order. */
export function fileBlocksOf(document: string): FileBlock[] {
  const matches = [...readFileSync(join(root, document), 'utf8').matchAll(fileBlock)];
  return matches.map(([, path, language, text]) => ({ path, language: language as 'ts' | 'tsx', text: text! }));
}

/** Creates a folder from which the package can be imported by its name. */
export function createProject(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-docs-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Returns the compiler's errors in the files of a project, in the strictest mode. */
export async function compile(folder: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const compilerOptions = {
    ...JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).compilerOptions,
    isolatedDeclarations: false,
    declaration: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    jsx: 'react-jsx',
    rootDir: folder,
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['**/*.ts', '**/*.tsx'], exclude: ['node_modules'] }),
  );
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch((error: unknown) => {
    return error as { stdout: string };
  });
  return stdout;
}
