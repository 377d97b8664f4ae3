import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { blocksOf, compile, createProject, fileBlocksOf } from './compile.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    // The files of examples that run elsewhere, because they need the examples' packages.
    .filter((name) => name.endsWith('.md') && name !== 'mount-it.md' && name !== 'orms.md')
    .map((name) => `docs/${name}`),
];

/** The application's modules that a document's blocks import. */
const application: Readonly<Record<string, string>> = {
  'sync.ts': `
    import type { UserContext } from 'tidemark';
    export const [views, mutators] = [{}, undefined];
    export declare function authenticate(request: Request): UserContext | null;`,
  'authenticate.ts': `export const anonymousID = (secret: string): string => secret;`,
  'server.ts': `
    import { defineMutator, defineMutators, defineView, sql, type TypedSync, type UserContext } from 'tidemark';
    import { z } from 'zod';
    export declare const sync: TypedSync<UserContext, typeof mutators, typeof views>;
    const note = defineView({ query: () => sql<{ id: string; body: string }>\`select id, body from note\`, key: 'id' });
    type Issue = { id: string; projectID: string; title: string; priority: number };
    const issue = defineView({
      args: z.object({ projectID: z.string() }),
      query: ({ args }) => sql<Issue>\`select id, "projectID", title, priority from issue where "projectID" = \${args.projectID}\`,
      key: 'id',
    });
    const create = defineMutator(z.object({ id: z.string(), body: z.string() }), () => {});
    export const views = { note, issue };
    export const mutators = defineMutators({ note: { create } });`,
  'session.ts': `export const authenticate = () => ({ userID: 'ann' });`,
  'mutators.ts': `
    import { defineMutatorsWithType, defineMutatorWithType } from '@rocicorp/zero';
    import type { NodePgTransaction } from '@rocicorp/zero/server/adapters/pg';
    import type { UserContext } from 'tidemark';
    import { z } from 'zod';
    import type { schema } from './database.js';
    const defineMutator = defineMutatorWithType<typeof schema, UserContext, NodePgTransaction>();
    const create = defineMutator(z.object({ id: z.string() }), async () => {});
    export const mutators = defineMutatorsWithType<typeof schema>()({ note: { create } });`,
  // Of Replicache's sample, in docs/migrate-from-replicache.md.
  'shared.ts': `
    import { z } from 'zod';
    export const listSchema = z.object({ id: z.string(), name: z.string(), ownerID: z.string() });
    export const shareSchema = z.object({ id: z.string(), listID: z.string(), userID: z.string() });
    export const todoSchema = z.object({
      id: z.string(), listID: z.string(), text: z.string(), completed: z.boolean(), sort: z.number(),
    });
    export type List = z.infer<typeof listSchema>;
    export type Share = z.infer<typeof shareSchema>;
    export type Todo = z.infer<typeof todoSchema>;`,
  'data.ts': `
    import type { List, Share, Todo } from './shared.js';
    type Executor = (sql: string, params?: unknown[]) => Promise<unknown>;
    type Write<Args> = (executor: Executor, userID: string, args: Args) => Promise<{ listIDs: string[] }>;
    export declare const createList: Write<List>;
    export declare const deleteList: Write<string>;
    export declare const createShare: Write<Share>;
    export declare const deleteShare: Write<string>;
    export declare const createTodo: Write<Omit<Todo, 'sort'>>;
    export declare const updateTodo: Write<{ id: string; text?: string | undefined }>;
    export declare const deleteTodo: Write<string>;`,
  'pull.ts': `export declare function pull(userID: string, body: unknown): Promise<unknown>;`,
  'push.ts': `export declare function push(userID: string, body: unknown): Promise<void>;`,
  'database.ts': `
    import { createSchema, string, table } from '@rocicorp/zero';
    import pg from 'pg';
    export const schema = createSchema({ tables: [table('note').columns({ id: string() }).primaryKey('id')] });
    export const pool = new pg.Pool();`,
};

const sessionModule = `
  export interface User { readonly userID: string }
  export const findSession = async (token: string): Promise<User | null> => ({ userID: token });
  export const currentUser = async (): Promise<User | null> => null;`;

/** The application's modules that one document's blocks import. */
const ownModules: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/nextjs.md': {
    'next.d.ts': `declare module 'next/navigation' { export function redirect(url: string): never; }`,
    'lib/session.ts': sessionModule,
  },
  'docs/tanstack-start.md': {
    // The parts of TanStack Start that the page uses.
    'tanstack.d.ts': `
      declare module '@tanstack/react-router' {
        interface RouteOptions<Data> {
          readonly staleTime?: number;
          readonly loader: (input: { readonly params: { readonly projectID: string } }) => Data | Promise<Data>;
          readonly component: unknown;
        }
        interface Route<Data> {
          useLoaderData(): Data;
          useParams(): { readonly projectID: string };
        }
        export function createFileRoute(path: string): <Data>(options: RouteOptions<Data>) => Route<Data>;
        export function redirect(options: { readonly href: string }): Response;
        export function Outlet(): null;
      }
      declare module '@tanstack/react-start' {
        export function createServerFn(): { handler<Result>(run: () => Promise<Result>): () => Promise<Result> };
        export function createIsomorphicFn(): {
          server<Args extends readonly unknown[], OnServer>(run: (...args: Args) => OnServer): {
            client<OnClient>(run: (...args: Args) => OnClient): (...args: Args) => OnServer | OnClient;
          };
        };
      }`,
    'src/lib/session.ts': sessionModule,
    'src/lib/sync.ts': filesOf('docs/nextjs.md')['lib/sync.ts']!,
  },
  'docs/partial-sync.md': {
    'session.ts': `
      export const findUser = async (_: Request): Promise<string | null> => 'ann';
      export const isMember = async (_userID: string, _projectID: string): Promise<boolean> => true;`,
  },
};

/** The blocks of a document as files. Blocks can import those that are preceded by their path. */
function filesOf(document: string): Record<string, string> {
  if (document !== 'README.md') {
    const blocks = fileBlocksOf(document);
    return withExtensions(
      Object.fromEntries(blocks.map(({ path, language, text }, i) => [path ?? `block-${i + 1}.${language}`, text])),
    );
  }
  const blocks = blocksOf(document, 'ts');
  const [server, client, replicache, config, ...others] = blocks as [string, string, string, string];
  expect(others).toEqual([]);
  return { 'server.ts': server, 'client.ts': client, 'replicache.ts': replicache, 'tidemark.config.ts': config };
}

/** Adds the extensions that imports need outside of a bundler. */
function withExtensions(files: Readonly<Record<string, string>>): Record<string, string> {
  const add = (text: string) =>
    text.replace(/( from |import\()'(\.[^']*\/)(\w+)'/g, (_, start: string, folder: string, name: string) => {
      const extension = Object.keys(files).some((file) => file.endsWith(`/${name}.tsx`)) ? 'tsx' : 'ts';
      return `${start}'${folder}${name}.${extension}'`;
    });
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, add(text)]));
}

/** Zero does not export a type that declarations of its schemas and mutators need. */
const ofZero = /^.*'Relationship' from '\S*@rocicorp\/zero.*\n/gm;

it('the code blocks of the documents compile', async () => {
  const files: Record<string, string> = {};
  for (const document of documents) {
    expect(blocksOf(document, 'js'), document).toEqual([]);
    for (const [name, text] of Object.entries({ ...application, ...ownModules[document], ...filesOf(document) })) {
      files[`${document}/${name}`] = text;
    }
  }
  const project = createProject();
  try {
    expect((await compile(project.folder, files)).replace(ofZero, '')).toBe('');
  } finally {
    project.remove();
  }
});
