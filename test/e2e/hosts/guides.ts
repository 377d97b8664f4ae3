/**
 * The applications of the guides for frameworks: the code blocks of the guide, and the files that it leaves to the
 * reader. They are built from the packages of the hosts' examples, and the package `@tidemark/client`.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileBlocksOf } from '../../docs/compile.js';
import { root } from '../../support/built.js';
import type { Host } from './host.js';
import { folder, installed, succeed } from './hosts.js';

type Files = Readonly<Record<string, string>>;

/** A guide, and how its application is built and started. */
export interface Guide extends Omit<Host, 'cwd'> {
  /** The name of the folder. */
  readonly name: string;
  readonly files: Files;
  readonly build: readonly [file: string, ...args: string[]];
  /** Checks the types of the built application, if the build does not. */
  readonly check?: readonly [file: string, ...args: string[]];
}

/** The tables of the guides' views. */
export const tables = `
  create table member (project_id text not null, user_id text not null, primary key (project_id, user_id));
  create table issue (id text primary key, project_id text not null, title text not null)`;

/** A session is the user's ID. */
const findSession = `
export interface User { readonly userID: string }
export const findSession = async (token: string): Promise<User | null> => ({ userID: token });
`;

export const next: Guide = {
  name: 'guide-next',
  files: {
    ...blocksOf('docs/nextjs.md'),
    'lib/session.ts': `import { cookies } from 'next/headers';
${findSession}
export async function currentUser(): Promise<User | null> {
  const session = (await cookies()).get('session');
  return session ? findSession(session.value) : null;
}
`,
    'app/layout.tsx': `import type { ReactNode } from 'react';

export default function Layout({ children }: { children: ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
    'next.config.ts': exampleOf('next/next.config.ts'),
    'tsconfig.json': exampleOf('next/tsconfig.json').replace('"strict": false', '"strict": true'),
    'package.json': '{ "type": "module" }',
  },
  build: [installed('next/dist/bin/next'), 'build'],
  args: ['.next/standalone/guide-next/server.js'],
};

export const tanstackStart: Guide = {
  name: 'guide-tanstack-start',
  files: {
    'src/lib/sync.ts': blocksOf('docs/nextjs.md')['lib/sync.ts']!,
    ...blocksOf('docs/tanstack-start.md'),
    'src/lib/session.ts': `import { getCookie } from '@tanstack/react-start/server';
${findSession}
export async function currentUser(): Promise<User | null> {
  const session = getCookie('session');
  return session === undefined ? null : findSession(session);
}
`,
    'src/router.tsx': exampleOf('tanstack-start/src/router.tsx'),
    'src/routes/__root.tsx': exampleOf('tanstack-start/src/routes/__root.tsx'),
    'src/routes/tidemark/$.ts': exampleOf('tanstack-start/src/routes/tidemark/$.ts').replace(
      "'../../../../sync'",
      "'../../lib/sync'",
    ),
    'server/plugins/sync.ts': exampleOf('tanstack-start/server/plugins/sync.ts').replace(
      "'../../../sync.ts'",
      "'../../src/lib/sync'",
    ),
    'vite.config.ts': exampleOf('tanstack-start/vite.config.ts'),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        lib: ['dom', 'dom.iterable', 'esnext'],
        module: 'esnext',
        moduleResolution: 'bundler',
        jsx: 'react-jsx',
        strict: true,
        skipLibCheck: true,
        noEmit: true,
      },
    }),
    'package.json': '{ "type": "module" }',
  },
  build: [installed('vite/bin/vite.js'), 'build'],
  check: [installed('typescript/bin/tsc')],
  args: ['.output/server/index.mjs'],
};

/** The blocks of a document that are preceded by their paths. */
function blocksOf(document: string): Files {
  return Object.fromEntries(fileBlocksOf(document).flatMap(({ path, text }) => (path ? [[path, text]] : [])));
}

function exampleOf(file: string): string {
  return readFileSync(join(root, 'examples/hosts', file), 'utf8');
}

/** Adds the built client to the packages of the hosts' examples, as npm would install it. */
export function installClient(): void {
  for (const path of ['package.json', 'dist']) {
    cpSync(join(root, 'packages/client', path), installed(join('@tidemark/client', path)), { recursive: true });
  }
}

/** Writes a guide's application, migrates the database for it, and builds it. Returns the command to start it. */
export async function builtGuide({ name, files, build, check, ...host }: Guide, database: string): Promise<Host> {
  const cwd = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  await succeed(cwd, [installed('tidemark/dist/cli.js'), 'migrate'], { DATABASE_URL: database });
  await succeed(cwd, build);
  if (check) await succeed(cwd, check);
  return { ...host, cwd };
}
