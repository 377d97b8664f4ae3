import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { blocksOf, compile, createProject } from './compile.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    // The files of examples that run elsewhere, because they need the examples' packages.
    .filter((name) => name.endsWith('.md') && name !== 'mount-it.md' && name !== 'orms.md')
    .map((name) => `docs/${name}`),
];

/** The application's modules that a document's blocks import. */
const application: Readonly<Record<string, string>> = {
  'sync.ts': `
    export const [views, mutators] = [{}, undefined];
    export const authenticate = () => ({ userID: 'ann' });`,
  'authenticate.ts': `export const anonymousID = (secret: string): string => secret;`,
  'server.ts': `
    import { defineMutator, defineMutators, defineView, sql } from 'tidemark';
    import { z } from 'zod';
    const note = defineView({ query: () => sql<{ id: string; body: string }>\`select id, body from note\`, key: 'id' });
    const create = defineMutator(z.object({ id: z.string(), body: z.string() }), () => {});
    export const views = { note };
    export const mutators = defineMutators({ note: { create } });`,
  'session.ts': `export const authenticate = () => ({ userID: 'ann' });`,
  'mutators.ts': `
    import { defineMutator, defineMutators } from '@rocicorp/zero';
    export const mutators = defineMutators({ note: { create: defineMutator(async () => {}) } });`,
  'database.ts': `
    import { createSchema, string, table } from '@rocicorp/zero';
    import pg from 'pg';
    export const schema = createSchema({ tables: [table('note').columns({ id: string() }).primaryKey('id')] });
    export const pool = new pg.Pool();`,
};

function filesOf(document: string): Record<string, string> {
  const blocks = blocksOf(document, 'ts');
  if (document !== 'README.md') {
    const components = blocksOf(document, 'tsx').map((text, i) => [`component-${i + 1}.tsx`, text]);
    return Object.fromEntries([...blocks.map((text, i) => [`block-${i + 1}.ts`, text]), ...components]);
  }
  const [server, client, replicache, config, ...others] = blocks as [string, string, string, string];
  expect(others).toEqual([]);
  return { 'server.ts': server, 'client.ts': client, 'replicache.ts': replicache, 'tidemark.config.ts': config };
}

it('the code blocks of the documents compile', async () => {
  const files: Record<string, string> = {};
  for (const document of documents) {
    expect(blocksOf(document, 'js'), document).toEqual([]);
    for (const [name, text] of Object.entries({ ...application, ...filesOf(document) })) {
      files[`${document}/${name}`] = text;
    }
  }
  const project = createProject();
  try {
    expect(await compile(project.folder, files)).toBe('');
  } finally {
    project.remove();
  }
});
